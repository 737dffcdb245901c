"""Campaigns with a note that is never answered: they stop naming it, and go on without it."""

import json
from collections import Counter

import pytest
from tests.support.campaigns import resume_small, run_small, summary
from typer.testing import CliRunner

import heldout
from heldout.experiments.campaigns.ending import ending, status_text
from heldout.experiments.campaigns.verify import verify_run
from heldout.experiments.cli.main import app
from heldout.experiments.runs.run_data import splits_of_run
from heldout.gepa.record.events import EvaluationEvent, LeftOutEvent
from heldout.gepa.record.journal import read_journal
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.remarks import StoppedEvent
from heldout.gepa.record.run import Run
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.errors import BadInput, InfrastructureFailure
from heldout.splits.heldout.looks_file import Buyer

CHANGES = {
    "benchmark": {"synthetic": {"consultations": 12}},
    "search": {"iterations": 3, "stall": 100, "merge_from": 9},
    "gate": {"pre_gate": "off"},
    "retry": {"base_s": 0.0001, "longest_s": 0.0002, "item_failures": 3},
}
pytestmark = pytest.mark.campaign


class Silent:
    """The simulated judge, which sends nothing back about some notes, under any or some blocks."""

    def __init__(self, notes, only=()):
        self.notes, self.only = notes, only
        self.model = simulated_models()["sim/judge"]
        self.asked = Counter()

    async def complete(self, request):
        text = request.messages[0].content
        note = text.partition("<note>")[2].partition("</note>")[0].strip()
        if note in self.notes and (not self.only or any(block in text for block in self.only)):
            self.asked[note] += 1
            raise InfrastructureFailure("a reply without content", kind="no_content")
        return await self.model.complete(request)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The same campaign with every note answered."""
    return run_small(tmp_path_factory.mktemp("whole"), CHANGES)


@pytest.fixture(scope="module")
def notes(whole):
    """The notes of each split, clean and errored, from the run that went well."""
    splits = splits_of_run(whole.files.path, journal=Nowhere(), buyer=Buyer("tests"))
    return {
        "reflect": [note for c in splits.reflect for note in c.notes],
        "accept": [note for c in splits.accept for note in c.notes],
        "heldout": list(splits.vault._reopen()),
    }


class Nowhere:
    def append(self, event):
        pass


def errored(notes):
    return next(note for note in notes if not note.label.is_clean)


def stopped_at(tmp_path, silent):
    ended = run_small(tmp_path, CHANGES, doubles={"sim/judge": silent})
    assert ended.exit_status == 4
    assert ended.run.finish_reason == "unanswered"
    return ended


def left_out(run):
    return [event.body for event in run.events if isinstance(event.body, LeftOutEvent)]


@pytest.fixture(scope="module")
def without_accept_note(tmp_path_factory, whole, notes):
    """A run that stopped at an accept note and went on without it, and the model it asked."""
    folder, note = tmp_path_factory.mktemp("accept"), errored(notes["accept"])
    silent = Silent({note.text})
    stopped = stopped_at(folder, silent)
    ended = resume_small(stopped.files.path, doubles={"sim/judge": silent}, leave_out=(note.id,))
    return note, stopped, ended, silent


def test_the_stop_names_the_note_and_how_to_go_on(without_accept_note):
    note, stopped, _, _ = without_accept_note
    assert str(stopped.error).count(note.id) == 2
    assert f"resume --leave-out {note.id}" in str(stopped.error)
    assert "no_content after 3" in str(stopped.error)
    event = stopped.run.newest(StoppedEvent)
    assert event.unanswered == {note.id: "no_content"}
    assert "some notes were not answered" in status_text(stopped.run)


def test_everything_else_of_the_step_was_done_before_it_stopped(without_accept_note, notes):
    _, stopped, _, _ = without_accept_note
    judged = stopped.run.calls.answered
    others = len(notes["heldout"]) + len(notes["accept"]) - 1
    assert judged >= others


def test_a_pair_whose_note_fails_under_the_baseline_leaves_every_blocks_figures(
    without_accept_note, whole
):
    note, _, ended, _ = without_accept_note
    assert ended.exit_status == 0
    run = ended.run
    (event,) = left_out(run)
    assert (event.note, event.split, event.under_baseline) == (note.id, "accept", True)
    tables = [run.accept_table(c.id) for c in run.entered]
    assert {len(table.labels) for table in tables} == {
        len(whole.run.accept_table("c00").labels) - 1
    }
    assert all(note.id not in table.position for table in tables)


def test_it_is_asked_as_often_as_is_said_and_never_after_it_was_left_out(without_accept_note):
    note, _, _, silent = without_accept_note
    # Three times before the stop, three times when it went on: the baseline was what failed.
    assert silent.asked == {note.text: 6}


def test_report_and_end_say_what_was_left_out(without_accept_note):
    note, _, ended, _ = without_accept_note
    assert note.id in ended.files.report.read_text("utf-8")
    assert note.id in ending(ended.run)
    assert verify_run(ended.files.path).faults == ()


def test_a_resumed_run_does_the_same_and_asks_nothing_again(without_accept_note, tmp_path):
    """The journal of the finished run, cut at several places: as if it had been killed there."""
    note, _, ended, _ = without_accept_note
    lines = ended.files.journal.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["kind"] for line in lines]
    place = kinds.index("left_out")
    for cut in (place, place + 1, len(lines) - 3):
        ended.files.journal.write_bytes(b"".join(lines[:cut]))
        silent = Silent({note.text})
        again = resume_small(ended.files.path, doubles={"sim/judge": silent})
        assert again.exit_status == 0, cut
        assert again.run.lineage_sha256 == ended.run.lineage_sha256
        assert again.run.spent == ended.run.spent
        # Only a run that died before the event itself has to find out once more.
        assert sum(silent.asked.values()) == (3 if cut == place else 0)


def test_a_note_that_only_the_candidate_fails_on_is_its_loss(tmp_path, whole, notes):
    run = whole.run
    assert run.winner is not None
    assert run.winner.kind != "seed"
    note = errored(notes["heldout"])
    silent = Silent({note.text}, only=[run.candidates[run.winner.id].block])
    stopped = run_small(tmp_path, CHANGES, doubles={"sim/judge": silent})
    assert stopped.exit_status == 4
    ended = resume_small(stopped.files.path, doubles={"sim/judge": silent}, leave_out=(note.id,))
    assert ended.exit_status == 0
    (event,) = left_out(ended.run)
    assert (event.split, event.under_baseline, event.candidate) == (
        "heldout",
        False,
        run.winner.id,
    )
    (confirmed,) = ended.run.on_heldout(Purpose.CONFIRM)
    (baseline,) = ended.run.on_heldout(Purpose.BASELINE)
    assert confirmed.scores[note.id] is None
    assert confirmed.violations[note.id] == "unanswered"
    assert baseline.scores[note.id] is not None
    before, now = run.heldout.difference, ended.run.heldout.difference
    assert now.estimate < before.estimate
    assert set(confirmed.scores) == set(baseline.scores)
    assert verify_run(ended.files.path).faults == ()


def test_a_heldout_note_that_fails_under_the_baseline_leaves_with_all_that_lean_on_it(
    tmp_path, notes
):
    clean = next(note for note in notes["heldout"] if note.label.is_clean)
    leaning = {n.id for n in notes["heldout"] if n.label.twin == clean.id}
    silent = Silent({clean.text})
    stopped = run_small(tmp_path, CHANGES, doubles={"sim/judge": silent})
    ended = resume_small(stopped.files.path, doubles={"sim/judge": silent}, leave_out=(clean.id,))
    assert ended.exit_status == 0
    for event in ended.run.evaluations:
        if event.split == "heldout":
            assert not leaning & set(event.scores)
    assert summary(ended)["decision"] in ("emitted", "refused")
    looks = (ended.files.manifest.parent / "partition.looks.jsonl").read_text("utf-8")
    assert looks.count("left_out") >= len(leaning)
    assert verify_run(ended.files.path).faults == ()


def test_a_reflect_note_may_go_unanswered_too(tmp_path, whole, notes):
    drawn = whole.run.iterations[0].minibatch
    by_id = {note.id: note for note in notes["reflect"]}
    note = next(by_id[id_] for id_ in drawn if not by_id[id_].label.is_clean)
    silent = Silent({note.text})
    stopped = run_small(tmp_path, CHANGES, doubles={"sim/judge": silent})
    assert stopped.run.newest(StoppedEvent).unanswered == {note.id: "no_content"}
    ended = resume_small(stopped.files.path, doubles={"sim/judge": silent}, leave_out=(note.id,))
    assert ended.exit_status == 0
    assert all(note.id not in i.minibatch for i in ended.run.iterations)
    children = [e for e in ended.run.evaluations if e.purpose is Purpose.CHILD]
    assert all(note.id not in event.scores for event in children)


def test_only_notes_that_the_stop_named_may_be_left_out_and_few_of_them(tmp_path, notes):
    one, two = [note for note in notes["accept"] if not note.label.is_clean][:2]
    silent = Silent({one.text, two.text})
    stopped = stopped_at(tmp_path, silent)
    run = stopped.files.path
    for names, told in (
        (("nobody",), "nobody was not named when the run stopped"),
        ((notes["accept"][0].id,), "was not named"),
        ((one.id, two.id), "2 of the "),
    ):
        with pytest.raises(BadInput, match=told) as caught:
            resume_small(run, leave_out=names)
        assert len(caught.value.lines) == 1
    again = resume_small(run, doubles={"sim/judge": silent}, leave_out=(one.id,))
    assert again.run.newest(StoppedEvent).unanswered == {two.id: "no_content"}
    with pytest.raises(BadInput, match="2 of the "):
        resume_small(run, leave_out=(two.id,))
    # When it is answered after all, nothing is left out but what was named.
    ended = resume_small(run, doubles={"sim/judge": Silent({one.text})})
    assert ended.exit_status == 0
    with pytest.raises(BadInput, match="it named none"):
        resume_small(run, leave_out=(one.id,))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--leave-out", "nobody"], "nobody was not named when the run stopped; it named none"),
        (["--leave-out", "nobody", "somebody"], "somebody was not named"),
        (["nobody"], "notes stand after --leave-out"),
    ],
)
def test_the_command_refuses_other_names_in_one_line_each(without_accept_note, words, told):
    _, _, ended, _ = without_accept_note
    done = CliRunner().invoke(app, ["resume", str(ended.files.path), *words])
    assert done.exit_code == 2
    assert told in done.output
    assert all("--leave-out" in line for line in done.output.splitlines())


def test_the_python_door_takes_notes_to_leave_out(without_accept_note):
    _, _, ended, _ = without_accept_note
    with pytest.raises(BadInput, match="nobody was not named"):
        heldout.resume(ended.files.path, leave_out=["nobody"])


def test_a_note_that_is_answered_when_it_is_asked_again_is_left_out_of_nothing(
    tmp_path, whole, notes
):
    note = errored(notes["accept"])
    stopped = stopped_at(tmp_path, Silent({note.text}))
    ended = resume_small(stopped.files.path, leave_out=(note.id,))
    assert ended.exit_status == 0
    assert left_out(ended.run) == []
    assert ended.run.lineage_sha256 == whole.run.lineage_sha256


def test_what_was_left_out_stands_on_the_journal_of_scores(without_accept_note):
    """Reading the run anew gives the figures that the run itself decided on."""
    _, _, ended, _ = without_accept_note
    read = Run.of(read_journal(ended.files.journal))
    assert read.left_out == left_out(ended.run)
    seeds = [e for e in read.evaluations if isinstance(e, EvaluationEvent) and e.split == "accept"]
    assert seeds
