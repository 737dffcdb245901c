"""Notes that are never answered, on a loopback server: the others are judged, these are named."""

import json
import threading
from collections import Counter
from dataclasses import dataclass, field

import pytest
import yaml
from tests.benchmarks.loopback import Answer, completion, serving
from tests.support.practice import Stub, asking, emitted, write_notes
from typer.testing import CliRunner

from heldout.experiments.cli.main import app
from heldout.experiments.judging.command import JudgeRequest, judge_command
from heldout.experiments.practice import session
from heldout.experiments.practice.apply_notes import apply
from heldout.experiments.practice.calibrate_notes import calibrate_command
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.note_sets import NoteFile
from heldout.experiments.practice.promises import Promise
from heldout.experiments.practice.rerun import rerun
from heldout.experiments.practice.rungs import rungs_of
from heldout.splits.errors import CircuitOpen, HardCapReached, InfrastructureFailure
from heldout.splits.loading.benchmark_files import BenchmarkSource
from heldout.splits.synthetic import draw, write_jsonl
from heldout.students.calls import caller as caller_module
from heldout.students.calls.ledger import Caps
from heldout.students.calls.retry import Retry
from heldout.students.models.chat import Budget

FAST = Retry(base_s=0.0005, longest_s=0.001, request_s=5, breaker_s=0)
GOOD = json.dumps(completion('{"assessment": "read", "score": 9}')).encode()


def null_content():
    body = completion("x")
    body["choices"][0]["message"]["content"] = None
    return Answer(json.dumps(body).encode())


NEVER = {
    "null content": null_content,
    "status 500": lambda: Answer(b'{"error": {"message": "oops"}}', 500),
    "no JSON": lambda: Answer(b"<html>gateway</html>"),
    "dropped": lambda: Answer(GOOD, cut=True),
    "status 400": lambda: Answer(b'{"error": {"message": "odd note"}}', 400),
    "no choices": lambda: Answer(b'{"choices": []}'),
}


@dataclass
class Server:
    """Answers all notes but some, and counts how often it was asked about each."""

    silent: set[str]
    never: object = null_content
    asked: Counter = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request):
        text = request.body["messages"][0]["content"]
        note = text.partition("<note>")[2].partition("</note>")[0].strip()
        with self.lock:
            self.asked[note] += 1
        return self.never() if note in self.silent else Answer(GOOD)


def options(folder, loopback, **changes):
    pins = folder / "models.yaml"
    free = {"prompt": 0.0, "completion": 0.0, "date": "2025-01-01"}
    entry = {"api_base": loopback.api_base, "prices": free}
    pins.write_text(yaml.safe_dump({"models": {"openai/judge": entry}}))
    return asking(model="openai/judge", models=pins, **{"retry": FAST, **changes})


def applied(tmp_path, server, *, notes, **changes):
    path = write_notes(tmp_path / "notes.csv", notes)
    with serving(server) as loopback:
        prompt = load_prompt(str(emitted(tmp_path / "run")))
        how = options(tmp_path, loopback, **changes)
        report = apply(prompt, path, tmp_path / "out", how, threshold=8.0)
    lines = (tmp_path / "out" / "made.jsonl").read_text("utf-8").splitlines()
    return report, [json.loads(line) for line in lines]


def test_of_sixty_notes_three_are_never_answered_and_the_others_are_scored(tmp_path):
    silent = {"Note 7.", "Note 31.", "Note 59."}
    server = Server(silent)
    report, rows = applied(tmp_path, server, notes=60)
    assert sum(row["score"] is not None for row in rows) == 57
    missing = {row["id"]: row for row in rows if row["status"] == "unanswered"}
    assert set(missing) == set(report.counts.unanswered) == {"n7", "n31", "n59"}
    assert all("without content" in row["reason"] for row in missing.values())
    assert all(row["score"] is None and row["flag"] is None for row in missing.values())
    # No call in vain beyond the stated retries.
    assert {server.asked[note] for note in silent} == {FAST.item_failures}
    assert server.asked.total() == 57 + 3 * FAST.item_failures
    assert report.to_json()["flagged"]["n"] == 57
    assert "n31" in report.text


@pytest.mark.parametrize(
    ("kind", "place"), [*((kind, 7) for kind in NEVER), ("null content", 0), ("status 400", 0)]
)
def test_one_note_of_eight_that_always_fails_is_a_row_with_its_reason(tmp_path, kind, place):
    server = Server({"Note 0 wrong." if place == 0 else f"Note {place}."}, NEVER[kind])
    report, rows = applied(tmp_path, server, notes=8, concurrency=4)
    assert [row["status"] for row in rows].count("ok") == 7
    assert rows[place]["status"] == "unanswered"
    assert rows[place]["reason"]
    assert list(report.counts.unanswered) == [f"n{place}"]


def test_the_same_command_asks_only_for_what_is_missing(tmp_path):
    server = Server({"Note 3."})
    applied(tmp_path, server, notes=8)
    server.silent.clear()
    server.asked.clear()
    report, rows = applied(tmp_path, server, notes=8)
    assert dict(server.asked) == {"Note 3.": 1}
    assert report.counts.unanswered == {}
    assert all(row["score"] == 9.0 for row in rows)


def test_a_server_that_answers_nothing_is_an_outage_and_leaves_no_output(tmp_path):
    path = write_notes(tmp_path / "notes.csv", 40)
    with serving(Server(set(), NEVER["status 500"])) as loopback:
        loopback.respond = lambda _request: NEVER["status 500"]()
        prompt = load_prompt(str(emitted(tmp_path / "run")))
        with pytest.raises(CircuitOpen):
            apply(prompt, path, tmp_path / "out", options(tmp_path, loopback), threshold=8.0)
    assert not (tmp_path / "out" / "made.csv").exists()


@pytest.mark.parametrize("way", ["hanging", "rate limit", "dropped"])
def test_time_that_is_up_ends_an_apply(tmp_path, monkeypatch, way):
    monkeypatch.setattr(caller_module, "GRACE_S", 0.02)
    answers = {
        "hanging": Answer(GOOD, delay_s=60),
        "rate limit": Answer(b"{}", 429, (("Retry-After", "60"),)),
        "dropped": Answer(GOOD, cut=True),
    }
    slow = Retry(base_s=0.05, item_failures=10_000, breaker_failures=10_000)
    path = write_notes(tmp_path / "notes.csv", 20)
    with serving(lambda _request: answers[way]) as loopback:
        prompt = load_prompt(str(emitted(tmp_path / "run")))
        how = options(tmp_path, loopback, wall_s=0.2, retry=slow, concurrency=4)
        with pytest.raises(HardCapReached, match=r"budget\.wall_s") as caught:
            apply(prompt, path, tmp_path / "out", how, threshold=8.0)
    assert caught.value.exit_status == 3


class Failing(Stub):
    """Answers all notes but those whose text holds one of some words."""

    def __init__(self, *words):
        super().__init__()
        self.words = words

    async def complete(self, request):
        note = request.messages[0].content.partition("<note>")[2].partition("</note>")[0]
        if any(word in note for word in self.words):
            self.asked += 1
            raise InfrastructureFailure("a reply without content", kind="no_content")
        return await super().complete(request)


def test_the_command_ends_with_status_4_and_its_output_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "simulated_models", lambda _: {"sim/judge": Failing("Note 3.")})
    notes = write_notes(tmp_path / "notes.csv", 8)
    monkeypatch.setattr(caller_module, "Retry", lambda: FAST)
    prompt, out = emitted(tmp_path / "run"), tmp_path / "out"
    done = CliRunner().invoke(app, ["apply", str(prompt), str(notes), "--out", str(out)])
    assert done.exit_code == 4, done.output
    assert "1 note was not answered" in done.output
    assert "n3" in done.output
    assert (out / "made.csv").read_text("utf-8").count(",ok,") == 7


def test_calibrate_leaves_out_a_clean_note_that_is_never_answered(tmp_path):
    clean = write_notes(tmp_path / "clean.csv", 61, wrong_every=1000)
    report = calibrate_command(
        load_prompt(str(emitted(tmp_path / "run"))),
        NoteFile(clean),
        Promise(0.05),
        tmp_path / "out",
        asking(Failing("Note 30."), retry=FAST),
    )
    assert report.calibration.clean_notes == 60
    assert report.calibration.unscored == 0
    (why,) = report.unanswered.values()
    assert "gave up after 8 requests" in why
    found = json.loads((tmp_path / "out" / "made.calibration.json").read_text("utf-8"))
    assert list(found["unanswered"].values()) == [why]
    assert "1 note was not answered" in report.text


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A small benchmark of pairs, and one errored note of it."""
    folder = tmp_path_factory.mktemp("drawn")
    pairs, consultations = folder / "p.jsonl", folder / "p.consultations.jsonl"
    made = draw(10, 3)
    write_jsonl(made, pairs, consultations)
    return pairs, consultations, next(iter(made.benchmark)).errored[0]


def test_judge_goes_on_without_a_note_and_names_it(tmp_path, drawn):
    pairs, consultations, note = drawn
    request = JudgeRequest(
        designs=("whole_note",),
        benchmark=BenchmarkSource(pairs, consultations),
        out=tmp_path,
        seed=11,
        budget=Budget(1500),
        model="sim/judge",
        caps=Caps(),
        retry=FAST,
    )
    report = judge_command(request, {"sim/judge": Failing(note.text)})
    assert list(report.unanswered) == [note.id]
    scores = json.loads((tmp_path / "scores" / "whole_note.0.json").read_text("utf-8"))
    assert [id_ for id_, score in scores.items() if score is None] == [note.id]
    written = json.loads((tmp_path / "judge.json").read_text("utf-8"))
    whole = next(one for one in written if one["design"] == "whole_note")
    assert list(whole["unanswered"]) == [note.id]
    again = judge_command(request, {"sim/judge": Stub()})
    assert again.unanswered == {}


def test_rerun_goes_on_without_a_note_and_names_it(tmp_path, drawn):
    pairs, consultations, note = drawn
    report = rerun(
        load_prompt(str(emitted(tmp_path / "run"))),
        rungs_of(["none"], [450], [1]),
        NoteFile(pairs, consultations),
        asking(Failing(note.text), retry=FAST),
        out=tmp_path / "out",
    )
    assert list(report.unanswered) == [note.id]
    step = report.ladder.steps[0]
    for result in (step.block, step.control):
        table = result.tables[0]
        assert [s for s in table.scores if s is None] == [None]
    assert note.id in report.text
    assert report.to_json()["unanswered"]
