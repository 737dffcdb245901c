import gzip
import json

import pytest
from tests.support.calls import reply, spec

from heldout.splits.errors import BadInput
from heldout.students.calls.call import Stage
from heldout.students.calls.store import CallStore
from heldout.students.calls.transfer import export_lines, import_lines, read_rows, write_rows
from heldout.students.models.chat import ModelPin

ODD = ModelPin("p/m", 0.3, {"top_p": 0.9, "extra_body": {"a": [1, None]}}, 1.0, None)


@pytest.fixture
def url(tmp_path):
    url = f"sqlite:///{tmp_path}/calls.sqlite"
    store = CallStore(url, "run")
    store.put(spec("a", pin=ODD), reply('«ü»\n"quoted"', usd=None), elapsed_s=1 / 3)
    store.put(spec("b", stage=Stage.REFLECT, text="failures"), reply())
    store.put(spec("c", attempt=1, max_tokens=7), reply(usd=0.25))
    store.close()
    other = CallStore(url, "other")
    other.put(spec("a"), reply())
    other.close()
    return url


@pytest.mark.parametrize("name", ["calls.jsonl", "calls.jsonl.gz"])
def test_calls_come_back_whole(url, tmp_path, name):
    file, again = tmp_path / name, f"sqlite:///{tmp_path}/again.sqlite"
    assert export_lines(read_rows(url), file) == 4
    assert write_rows(again, import_lines(file)) == 4
    assert list(read_rows(again)) == list(read_rows(url))
    first, second = CallStore(url, "run"), CallStore(again, "run")
    assert list(first.calls()) == list(second.calls())
    first.close()
    second.close()
    # What is there already stays.
    assert write_rows(again, import_lines(file)) == 0


def test_one_run_or_one_stage(url):
    assert [row.item for row in read_rows(url, "run")] == ["a", "b", "c"]
    assert [row.item for row in read_rows(url, "run", "reflect")] == ["b"]
    assert list(read_rows(url, "nobody")) == []


def test_equal_calls_make_equal_files(url, tmp_path):
    one, two = tmp_path / "x" / "calls.jsonl.gz", tmp_path / "y" / "calls.jsonl.gz"
    for file in (one, two):
        file.parent.mkdir()
        export_lines(read_rows(url), file)
    assert one.read_bytes() == two.read_bytes()


def changed(field, value):
    def change(row):
        row[field] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed("item", None), "item: None is not a value"),
        (changed("temperature", 0.9), "key does not fit"),
        (changed("seed", 8), "key does not fit"),
        (changed("model", "p/other"), "key does not fit"),
        (changed("messages_sha256", "0" * 64), "key does not fit"),
        (changed("max_tokens", True), "max_tokens: True"),
        (changed("stage", "judging"), "stage 'judging'"),
        (changed("finish", "done"), "finish 'done'"),
        (changed("usd", "free"), "usd: 'free'"),
        (changed("messages", '[["user","CANARY"]]'), "for no other"),
        (lambda row: row.pop("text"), "not a call"),
        (changed("api_key", "x"), "not a call"),
    ],
)
def test_a_line_that_was_changed_is_named(url, tmp_path, change, said):
    file = tmp_path / "calls.jsonl"
    export_lines(read_rows(url), file)
    lines = file.read_text().splitlines()
    row = json.loads(lines[0])
    change(row)
    file.write_text("\n".join([json.dumps(row), *lines[1:]]))
    with pytest.raises(BadInput) as caught:
        import_lines(file)
    (line,) = caught.value.lines
    assert line.startswith(f"{file}:1: ")
    assert said in line


def test_changed_messages_are_found(url, tmp_path):
    file = tmp_path / "calls.jsonl"
    export_lines(read_rows(url, "run", "reflect"), file)
    file.write_text(file.read_text().replace("failures", "successes"))
    with pytest.raises(BadInput, match="do not fit their hash"):
        import_lines(file)


def test_files_that_are_no_export(tmp_path):
    file = tmp_path / "calls.jsonl"
    file.write_text("\n".join(["{", "[]", '"x"', *(["{}"] * 30)]))
    with pytest.raises(BadInput) as caught:
        import_lines(file)
    # Alike faults are one line with their count.
    assert len(caught.value.lines) == 3
    assert "19 of this kind" in caught.value.lines[1]
    assert "13 more lines" in caught.value.lines[-1]
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(b"{}\n" * 1000)[:-20])
    with pytest.raises(BadInput, match="cannot be read"):
        import_lines(torn)
    with pytest.raises(BadInput, match="cannot be read"):
        import_lines(tmp_path / "absent.jsonl")
    with pytest.raises(BadInput, match="cannot be written"):
        export_lines([], tmp_path / "no" / "folder.jsonl")
