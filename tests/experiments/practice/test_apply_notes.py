import csv
import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.practice import Stub, asking, emitted, write_notes

from heldout.experiments.practice.apply_notes import apply
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.note_rows import NoteFile, open_notes
from heldout.gepa.emission import CARD_SUFFIX
from heldout.splits.errors import BadInput, CallRefused, InfrastructureFailure, StopRequested
from heldout.students.models.chat import Budget

FILES = ("made.csv", "made.jsonl", "made.html")


def applied(tmp_path, notes, model=None, out="out", prompt=None, max_tokens=None, **changes):
    prompt = load_prompt(str(prompt or emitted(tmp_path / "run")))
    options = asking(model, max_tokens=max_tokens)
    return apply(prompt, notes, tmp_path / out, options, **changes)


def rows_of(folder: Path, stem="made") -> list[dict]:
    with (folder / f"{stem}.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def lines_of(folder: Path, stem="made") -> list[dict]:
    return [json.loads(x) for x in (folder / f"{stem}.jsonl").read_text("utf-8").splitlines()]


def test_every_note_is_a_row_and_flags_are_listed(tmp_path):
    report = applied(tmp_path, write_notes(tmp_path / "notes.csv", 40), Stub())
    rows = rows_of(tmp_path / "out")
    assert [row["id"] for row in rows] == [f"n{k}" for k in range(40)]
    assert [row["id"] for row in rows if row["flag"] == "true"] == ["n0", "n10", "n20", "n30"]
    found = report.to_json()
    assert found["flagged"] == {"k": 4, "n": 40}
    assert found["threshold"] == 8.0
    lines = lines_of(tmp_path / "out")
    assert [line["score"] for line in lines[:2]] == [5.0, 9.0]
    page = (tmp_path / "out" / "made.html").read_text()
    assert page.count("<article>") == 4
    assert "read &lt;b&gt;all&lt;/b&gt;" in page
    assert "Simulated model" in page


HOSTILE = "</p><script>alert(1)</script> =cmd"


def test_texts_on_the_page_are_escaped_and_cells_are_no_formulas(tmp_path):
    notes = tmp_path / "notes.jsonl"
    row = {"id": HOSTILE, "transcript": "t", "note": "wrong", "consultation": "=1+1"}
    notes.write_text(json.dumps(row) + "\n")
    applied(tmp_path, notes, Stub())
    page = (tmp_path / "out" / "made.html").read_text()
    assert "<script" not in page
    assert "script-src" not in page
    assert "default-src &#39;none&#39;" in page
    assert "&lt;/p&gt;&lt;script&gt;" in page
    assert rows_of(tmp_path / "out")[0]["consultation"] == "'=1+1"


def test_a_note_that_cannot_be_read_is_a_row_with_a_reason(tmp_path):
    notes = tmp_path / "notes.csv"
    notes.write_bytes(
        b"id,transcript,note\n"
        b"a,hello,fine\n"
        b"b,hello,\n"
        b"c,,fine\n"
        b"d,hello\n"
        b"e,hello,\xff\xfe broken\n"
        b"f,hello,nul \x00 inside\n"
        b'g,"hello, all",last\n'
    )
    report = applied(tmp_path, notes, Stub())
    rows = {row["id"]: (row["status"], row["reason"]) for row in rows_of(tmp_path / "out")}
    assert rows["a"] == rows["g"] == ("ok", "")
    assert rows["b"] == ("unreadable", "note: is blank")
    assert rows["c"] == ("unreadable", "transcript: is blank")
    assert rows["row 4"] == ("unreadable", "2 cells under 3 columns")
    assert rows["e"] == ("unreadable", "note: is not UTF-8")
    assert rows["f"][1].startswith("note: NUL character")
    assert report.counts.unreadable == 5


def test_json_lines_that_are_none_are_rows(tmp_path):
    notes = tmp_path / "notes.jsonl.gz"
    good = json.dumps({"transcript": "t", "note": "n"})
    lines = [
        good,
        "{",
        "[1]",
        json.dumps({"note": "n"}),
        json.dumps({"transcript": 3, "note": "n"}),
    ]
    notes.write_bytes(gzip.compress("\n".join(lines).encode()))
    applied(tmp_path, notes, Stub())
    reasons = [row["reason"].partition(":")[0] for row in rows_of(tmp_path / "out")]
    assert reasons == [
        "",
        "not JSON",
        "an object is needed, not a list",
        "transcript",
        "transcript",
    ]


def test_a_truncated_gzip_file_is_refused_before_a_note_of_it_is_judged(tmp_path):
    notes = tmp_path / "notes.jsonl.gz"
    line = json.dumps({"transcript": "t", "note": "n"}) + "\n"
    notes.write_bytes(gzip.compress((line * 5_000).encode())[:-40])
    with pytest.raises(BadInput, match="gzip data ends too early"):
        open_notes(NoteFile(notes))


def test_a_folder_of_notes_is_read_with_several_notes_a_transcript(tmp_path):
    folder = tmp_path / "notes"
    (folder / "ward").mkdir(parents=True)
    (folder / "a.transcript.txt").write_text("[doctor] hello")
    (folder / "a.note.txt").write_text("fine")
    (folder / "a.note.2.txt").write_text("wrong")
    (folder / "ward" / "b.note.txt").write_text("fine")
    applied(tmp_path, folder, Stub())
    rows = {row["id"]: row for row in rows_of(tmp_path / "out")}
    assert rows["a.note.2.txt"]["flag"] == "true"
    assert rows["a.note.txt"]["consultation"] == rows["a.note.2.txt"]["consultation"] == "a"
    assert rows["ward/b.note.txt"]["reason"] == "transcript: is missing"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.csv", "id,transcript\n", "no column «note»"),
        ("notes.txt", "x", "must end in one of .csv"),
        ("notes.csv", None, "no such file"),
    ],
)
def test_a_file_that_is_no_table_of_notes_is_refused_before_anything_is_written(
    tmp_path, name, content, said
):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=said):
        applied(tmp_path, tmp_path / name, Stub())
    assert not (tmp_path / "out").exists()


def test_killed_and_resumed_it_asks_for_nothing_stored(tmp_path):
    notes = write_notes(tmp_path / "notes.csv", 700)
    whole = Stub()
    applied(tmp_path, notes, whole, "whole")
    assert whole.asked == 700
    first = Stub()

    def stop():
        return "a test" if first.asked >= 600 else None

    with pytest.raises(StopRequested):
        applied(tmp_path, notes, first, stop=stop)
    assert not (tmp_path / "out" / "made.csv").exists()
    second = Stub()
    applied(tmp_path, notes, second)
    assert first.asked + second.asked == 700
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_rows_that_moved_are_not_asked_again(tmp_path):
    notes = write_notes(tmp_path / "notes.csv", 600)
    applied(tmp_path, notes, Stub())
    rows = notes.read_bytes().replace(b"\r\n[", b"\n[").splitlines(keepends=True)
    header, bodies = rows[0], [a + b for a, b in zip(rows[1::2], rows[2::2], strict=True)]
    notes.write_bytes(header + b"".join(reversed(bodies)))
    again = Stub()
    applied(tmp_path, notes, again)
    assert again.asked == 0


class TooLong(Stub):
    async def complete(self, request):
        if "Note 3." in request.messages[0].content:
            raise InfrastructureFailure("too long", kind="context_window", transient=False)
        return await super().complete(request)


class NoKey(Stub):
    async def complete(self, request):
        raise InfrastructureFailure("who are you?", kind="auth", transient=False)


def test_a_note_too_long_for_the_model_is_a_row_and_a_rejected_key_a_stop(tmp_path):
    notes = write_notes(tmp_path / "notes.csv", 6)
    applied(tmp_path, notes, TooLong())
    row = rows_of(tmp_path / "out")[3]
    assert row["status"] == "unreadable"
    assert row["reason"].startswith("too long for the model")
    with pytest.raises(CallRefused):
        applied(tmp_path, notes, NoKey(), "other")


def test_an_unconfirmed_block_needs_a_word_and_says_so_everywhere(tmp_path):
    prompt = emitted(tmp_path / "run", gate={"decision": "refused"})
    notes = write_notes(tmp_path / "notes.csv", 12)
    with pytest.raises(BadInput, match="--unconfirmed"):
        applied(tmp_path, notes, Stub(), prompt=prompt)
    assert not (tmp_path / "out").exists()
    applied(tmp_path, notes, Stub(), prompt=prompt, unconfirmed=True)
    out = tmp_path / "out"
    rows = rows_of(out, "made.unconfirmed")
    assert {row["confirmed"] for row in rows} == {"false"}
    assert "UNCONFIRMED" in (out / "made.unconfirmed.html").read_text()
    assert "confirmed: false" in (out / "made.unconfirmed.card.yaml").read_text()


def test_a_block_that_differs_from_its_card_is_refused(tmp_path):
    prompt = emitted(tmp_path / "run")
    prompt.write_text(prompt.read_text().replace("one decimal", "two decimals"))
    with pytest.raises(BadInput) as caught:
        load_prompt(str(prompt))
    assert [str(f).split(": ")[1].split(" ")[0] for f in caught.value.faults] == [
        "prompt_sha256",
        "block_sha256",
    ]


def test_a_prompt_without_a_card_or_with_half_a_card_is_refused(tmp_path):
    prompt = emitted(tmp_path / "run")
    file = prompt.with_name(f"made{CARD_SUFFIX}")
    text = file.read_text()
    file.write_text(text.replace("frame_sha256", "frame"))
    with pytest.raises(BadInput, match="frame_sha256: is missing"):
        load_prompt(str(prompt))
    file.unlink()
    with pytest.raises(BadInput, match="only used with its card"):
        load_prompt(str(prompt))


def test_the_cards_threshold_is_not_used_at_another_budget(tmp_path):
    notes = write_notes(tmp_path / "notes.csv", 3)
    with pytest.raises(BadInput, match="frozen at other max_tokens"):
        applied(tmp_path, notes, Stub(), max_tokens=4000)
    report = applied(tmp_path, notes, Stub(), max_tokens=4000, threshold=6.0)
    assert report.to_json()["threshold_from"] == "given"


def test_without_a_threshold_the_designs_own_rule_flags(tmp_path):
    prompt = emitted(tmp_path / "run", threshold={"value": None})
    notes = write_notes(tmp_path / "notes.csv", 20)
    report = applied(tmp_path, notes, Stub(), prompt=prompt)
    assert report.counts.flagged == 2
    assert "design's own rule" in report.text


class Dear(Stub):
    """Calls a wrong note fine once it may spend 4,000 tokens, except note 0."""

    async def complete(self, request):
        reply = await super().complete(request)
        if request.budget.max_tokens < 4000 or "Note 0 " in request.messages[0].content:
            return reply
        return replace(reply, text=reply.text.replace("5", "9"))


def test_escalation_judges_again_only_what_was_flagged(tmp_path):
    notes = write_notes(tmp_path / "notes.csv", 40)
    model = Dear()
    report = applied(tmp_path, notes, model, escalation=Budget(4000))
    assert model.asked == 44
    assert report.counts.flagged == 1


def test_facts_are_named_where_the_design_names_them(tmp_path):
    prompt = emitted(tmp_path / "run", "per_fact_checker", "Check each fact.")
    notes = tmp_path / "notes.jsonl"
    transcript = (
        "[doctor] What brings you?\n[patient] I have had a cough for three days.\n"
        "[doctor] Any allergies?\n[patient] I am allergic to penicillin."
    )
    note = "Complains of coughing, day and night, since the weekend. Chest clear."
    notes.write_text(json.dumps({"transcript": transcript, "note": note}) + "\n")
    applied(tmp_path, notes, prompt=prompt, threshold=1.0)
    (line,) = lines_of(tmp_path / "out")
    assert line["flag"]
    assert any("penicillin" in fact["text"].lower() for fact in line["named"])
    assert "penicillin" in (tmp_path / "out" / "made.html").read_text().lower()


PEAK = """
import resource, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.support.practice import Stub, asking, emitted, write_notes
from heldout.experiments.practice.apply_notes import apply
from heldout.experiments.practice.loaded_prompt import load_prompt
folder = Path({folder!r})
for size in (600, 2000):
    notes = write_notes(folder / f"{{size}}.csv", size)
    apply(load_prompt({prompt!r}), notes, folder / f"out{{size}}", asking(Stub()))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_many_notes_take_no_more_memory_than_few(tmp_path):
    """The time of 10,000 notes stands in `tests/benchmarks/applying.py`."""
    prompt = emitted(tmp_path / "run")
    root = str(Path(__file__).parents[3])
    script = PEAK.format(root=root, folder=str(tmp_path), prompt=str(prompt))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root
    )
    few, many = map(int, done.stdout.split())
    assert many - few < 2_000  # KiB for 1,400 notes more, whose replies and prompts hold more
