"""The journal: chained, append-only, compared on replay, safe against a torn last line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.gepa.record.codec import decode, encode
from heldout.gepa.record.events import DriftEvent, EvaluationEvent, PhaseEvent
from heldout.gepa.record.journal import RunJournal, read_journal
from heldout.gepa.record.kinds import EventKind, Phase, Purpose
from heldout.gepa.record.remarks import ModelFacts, OpenedEvent, ResumedEvent
from heldout.gepa.spending import Spent
from heldout.splits.errors import BadInput, JournalBroken, JournalMismatch
from heldout.students.models.chat import Budget

PHASES = list(Phase)
FIRST = OpenedEvent(
    run_id="r-1",
    name="tiny",
    seed=1,
    acknowledge_reuse=False,
    config_sha256="0" * 64,
    student=ModelFacts(model="sim/judge", budget=Budget(100), design="whole_note", parameters={}),
    reflector=ModelFacts(model="sim/reflector", budget=Budget(100)),
    reuse="off",
    tracking_text="hashes",
    simulated=True,
    versions={},
    source_sha256="0" * 64,
    commit=None,
    dirty=None,
    platform="none",
)


def phase(number: int) -> PhaseEvent:
    return PhaseEvent(name=PHASES[number])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def written(path: Path, count: int = 3) -> None:
    journal = RunJournal(path)
    for number in range(count):
        journal.append(phase(number))
    journal.close()


def test_events_come_back_as_written_and_chained(path: Path) -> None:
    written(path)
    events = read_journal(path)
    assert [e.body.name for e in events] == PHASES[:3]
    assert [e.prev for e in events[1:]] == [e.hash for e in events[:-1]]
    assert events[0].prev == "0" * 64


SCORES = st.dictionaries(st.text(), st.none() | st.floats(allow_nan=False, allow_infinity=False))
EVALUATIONS = st.builds(
    EvaluationEvent,
    purpose=st.sampled_from(Purpose),
    split=st.text(),
    candidate=st.none() | st.text(),
    iteration=st.integers(0, 2**53),
    replicate=st.integers(0, 9),
    samples=st.integers(1, 9),
    block_sha256=st.text(),
    frame_sha256=st.text(),
    budget=st.builds(Budget, st.integers(1, 2**31), st.none() | st.text()),
    scores=SCORES,
    flagged=st.none() | st.lists(st.text(), max_size=3).map(tuple),
    violations=st.dictionaries(st.text(), st.text(), max_size=3),
    facts_sha256=st.none() | st.text(),
    calls_sha256=st.text(),
    spent=st.builds(Spent, st.integers(0, 99), st.integers(0, 99), st.none() | st.just(0.25)),
    bought_by=st.none() | st.text(),
)


@given(event=EVALUATIONS)
def test_any_event_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, event: EvaluationEvent
) -> None:
    path = tmp_path_factory.mktemp("j") / "journal.jsonl"
    journal = RunJournal(path)
    journal.append(event)
    journal.close()
    assert read_journal(path)[0].body == event
    again = RunJournal(path)
    again.append(event)  # the same event while replaying is no mismatch
    again.close()
    assert len(read_journal(path)) == 1


def test_a_field_that_is_not_known_is_passed_over_and_one_not_recorded_has_its_default() -> None:
    body = encode(FIRST)
    del body["notices"]
    assert decode(EventKind.OPENED, {**body, "of_a_later_version": 1}) == FIRST


@pytest.mark.parametrize("odd", [{}, {"name": "no phase"}, {"name": 3}, []])
def test_what_is_no_event_is_refused(odd) -> None:
    with pytest.raises(ValueError, match="validation error"):
        decode(EventKind.PHASE, odd)


def test_replay_compares_and_writes_nothing(path: Path) -> None:
    written(path)
    before = path.read_bytes()
    written(path)
    assert path.read_bytes() == before


def test_replay_names_the_first_difference(path: Path) -> None:
    written(path)
    journal = RunJournal(path)
    journal.append(phase(0))
    with pytest.raises(
        JournalMismatch, match=r'event 1 \(phase\).*name: "baseline" on record, "emit" now'
    ):
        journal.append(PhaseEvent(name=Phase.EMIT))
    journal.close()
    assert len(read_journal(path)) == 3


def test_remarks_are_not_compared(path: Path) -> None:
    journal = RunJournal(path)
    journal.remark(FIRST)
    journal.append(phase(0))
    journal.close()
    journal = RunJournal(path)
    journal.remark(ResumedEvent(**vars(FIRST)))
    journal.append(phase(0))
    assert not journal.replaying
    journal.append(phase(1))
    journal.close()
    assert [e.kind for e in read_journal(path)] == ["opened", "phase", "resumed", "phase"]


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_dropped_and_the_rest_kept(path: Path, cut: int) -> None:
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert len(read_journal(path)) == 2
    written(path)
    assert [e.body.name for e in read_journal(path)] == PHASES[:3]


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_changed_line_is_named(path: Path, line: int) -> None:
    written(path)
    lines = path.read_text().splitlines()
    lines[line] = lines[line].replace(PHASES[line], "emit", 1)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(JournalBroken) as caught:
        read_journal(path)
    assert caught.value.line == line + 1


def test_a_removed_line_is_named(path: Path) -> None:
    written(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[2])
    with pytest.raises(JournalBroken) as caught:
        read_journal(path)
    assert caught.value.line == 2


def test_the_store_is_made_durable_before_every_event(path: Path) -> None:
    seen: list[int] = []
    journal = RunJournal(path, before_write=lambda: seen.append(path.stat().st_size))
    journal.append(phase(0))
    first = path.stat().st_size
    journal.append(phase(1))
    journal.close()
    assert seen == [0, first]


def test_observers_see_replayed_and_new_events_in_order(path: Path) -> None:
    written(path, 2)
    seen: list[tuple[str, bool]] = []
    journal = RunJournal(path, (lambda event, replayed: seen.append((event.body.name, replayed)),))
    for number in range(3):
        journal.append(phase(number))
    journal.close()
    assert seen == [("partition", True), ("baseline", True), ("seeds", False)]


def test_a_journal_that_cannot_be_written_is_the_users_fault(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        RunJournal(tmp_path / "absent" / "journal.jsonl")


def test_nan_never_enters_the_record(path: Path) -> None:
    journal = RunJournal(path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        journal.append(DriftEvent(notes=1, mean_change=float("nan"), refuses=False))
    journal.close()
    assert read_journal(path) == []
