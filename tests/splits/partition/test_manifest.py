import json
import os
from dataclasses import replace

import pytest
from tests.splits.builders import made

from heldout.splits.errors import BadInput
from heldout.splits.overlap import shingle_hash, shingles, words
from heldout.splits.partition.draw import draw_partition
from heldout.splits.partition.manifest import freeze, read_manifest


@pytest.fixture
def benchmark(tmp_path):
    return made(tmp_path, 16)


@pytest.fixture
def partition(benchmark):
    return draw_partition(benchmark, seed=9, files={"a.jsonl": "1" * 64}, planned_looks=2)


def refused(path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_manifest(path)
    return [line.removeprefix(str(path)) for line in caught.value.lines]


def test_what_is_frozen_is_read_back(partition, tmp_path):
    path = tmp_path / "deep" / "er" / "p.json"
    freeze(partition, path)
    again = read_manifest(path)
    assert again == partition
    assert again.recorded == again.sha256 == partition.sha256
    assert [p.name for p in path.parent.iterdir()] == ["p.json"]


def test_others_find_the_ids_where_the_contract_puts_them(partition, tmp_path):
    freeze(partition, tmp_path / "p.json")
    value = json.loads((tmp_path / "p.json").read_text("utf-8"))
    assert set(value["splits"]) == {"reflect", "accept", "heldout"}
    assert value["splits"]["heldout"] == list(partition.heldout)
    assert all("|" in name for names in value["splits"].values() for name in names)


def test_a_frozen_partition_is_never_replaced(partition, benchmark, tmp_path):
    path = tmp_path / "p.json"
    freeze(partition, path)
    before = path.read_bytes()
    with pytest.raises(BadInput, match="exists already, and a frozen partition is never replaced"):
        freeze(draw_partition(benchmark, seed=10), path)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".p.json.*"))


def test_a_place_that_cannot_be_written_is_a_fault(partition, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="cannot be written"):
        freeze(partition, tmp_path / "file" / "p.json")


def test_a_name_taken_by_another_process_meanwhile_is_kept(partition, tmp_path, monkeypatch):
    path = tmp_path / "p.json"
    link = os.link

    def late(source, target):
        path.write_text("theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(BadInput, match="File exists"):
        freeze(partition, path)
    assert path.read_text() == "theirs"


def test_a_kill_while_freezing_leaves_no_manifest(partition, tmp_path, monkeypatch):
    def killed(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        freeze(partition, tmp_path / "p.json")
    assert not (tmp_path / "p.json").exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"format": 3}, ": format: Input should be 1 or 2"),
        ({"planned_looks": 0}, ": planned_looks: Input should be greater than or equal to 1"),
        ({"planned_looks": "1"}, ": planned_looks: Input should be a valid integer"),
        ({"splits": {"reflect": []}}, ": splits.accept: Field required"),
        ({"sha256": "x"}, ": sha256: String should match"),
        ({"extra": 1}, ": extra: Extra inputs are not permitted"),
        ({"shares": {"reflect": 1.0}}, ".shares"),
        ({"heldout_runs": 3}, ": heldout_runs: Input should be"),
    ],
)
def test_ill_formed_manifests(partition, tmp_path, change, expected):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({**partition.to_json(), **change}))
    assert any(expected in line for line in refused(path))


OLD = {"words": 8, "salt": "0" * 32, "guarded": "AAAAAAAAAAE=", "exempt": ""}


def test_a_manifest_of_format_1_loads_with_its_hashes_and_keeps_its_digest(partition, tmp_path):
    old = replace(partition, heldout_runs=OLD)
    freeze(old, tmp_path / "p.json")
    written = json.loads((tmp_path / "p.json").read_text())
    assert (written["format"], written["heldout_runs"]) == (1, OLD)
    read = read_manifest(tmp_path / "p.json")
    assert read == old
    assert read.sha256 == read.recorded == old.sha256 != partition.sha256


def test_a_new_manifest_holds_no_hash_of_anything_in_the_notes(partition, benchmark):
    written = partition.to_json()
    assert written["format"] == 2
    assert "heldout_runs" not in written
    text = json.dumps(written)
    for consultation in benchmark:
        for run in shingles(consultation.transcript, 1) | shingles(consultation.transcript):
            for salt in ("", partition.salt):
                assert f"{shingle_hash(run, salt):016x}" not in text
                assert str(shingle_hash(run, salt)) not in text


def test_damaged_hashes_are_a_fault(partition, tmp_path):
    value = replace(partition, heldout_runs=OLD).to_json()
    value["heldout_runs"]["guarded"] = "?"
    (tmp_path / "p.json").write_text(json.dumps(value))
    (fault,) = refused(tmp_path / "p.json")
    assert fault.startswith(": heldout_runs.guarded: String should match")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"splits": NaN}'])
def test_files_that_are_no_manifest(tmp_path, text):
    path = tmp_path / "p.json"
    path.write_text(text)
    assert refused(path)


def test_no_text_of_any_note_is_in_the_manifest(partition, benchmark, tmp_path):
    freeze(partition, tmp_path / "p.json")
    written = set(words((tmp_path / "p.json").read_text("utf-8")))
    vocabulary = {
        word
        for c in benchmark
        for text in (c.transcript, *(n.text for n in c.notes), *(n.fact or "" for n in c.notes))
        for word in words(text)
        if len(word) > 3 and not any(word in name for name in benchmark.by_id)
    }
    assert len(vocabulary) > 1000
    assert not written & vocabulary
