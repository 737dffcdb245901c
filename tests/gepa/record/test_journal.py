"""The journal: chained, append-only, compared on replay, safe against a torn last line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.gepa.record.events import EventKind
from heldout.gepa.record.journal import RunJournal, read_journal
from heldout.splits.errors import BadInput, JournalBroken, JournalMismatch

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def written(path: Path, count: int = 3) -> None:
    journal = RunJournal(path)
    for number in range(count):
        journal.append("phase", {"name": f"p{number}"})
    journal.close()


def test_events_come_back_as_written_and_chained(path: Path) -> None:
    written(path)
    events = read_journal(path)
    assert [e.body["name"] for e in events] == ["p0", "p1", "p2"]
    assert [e.prev for e in events[1:]] == [e.hash for e in events[:-1]]
    assert events[0].prev == "0" * 64


@given(body=st.dictionaries(st.text(), JSON, max_size=4))
def test_any_json_body_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, body
) -> None:
    path = tmp_path_factory.mktemp("j") / "journal.jsonl"
    journal = RunJournal(path)
    journal.append("phase", body)
    journal.close()
    assert read_journal(path)[0].body == json.loads(json.dumps(body))
    again = RunJournal(path)
    again.append("phase", body)  # the same event while replaying is no mismatch
    again.close()
    assert len(read_journal(path)) == 1


def test_replay_compares_and_writes_nothing(path: Path) -> None:
    written(path)
    before = path.read_bytes()
    written(path)
    assert path.read_bytes() == before


def test_replay_names_the_first_difference(path: Path) -> None:
    written(path)
    journal = RunJournal(path)
    journal.append("phase", {"name": "p0"})
    with pytest.raises(
        JournalMismatch, match=r'event 1 \(phase\).*name: "p1" on record, "other" now'
    ):
        journal.append("phase", {"name": "other"})
    journal.close()
    assert len(read_journal(path)) == 3


def test_remarks_are_not_compared(path: Path) -> None:
    journal = RunJournal(path)
    journal.remark(EventKind.OPENED, {"run_id": "a"})
    journal.append("phase", {"name": "p0"})
    journal.close()
    journal = RunJournal(path)
    journal.remark(EventKind.RESUMED, {"run_id": "a"})
    journal.append("phase", {"name": "p0"})
    assert not journal.replaying
    journal.append("phase", {"name": "p1"})
    journal.close()
    assert [e.kind for e in read_journal(path)] == ["opened", "phase", "resumed", "phase"]


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_dropped_and_the_rest_kept(path: Path, cut: int) -> None:
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert len(read_journal(path)) == 2
    written(path)
    assert [e.body["name"] for e in read_journal(path)] == ["p0", "p1", "p2"]


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_changed_line_is_named(path: Path, line: int) -> None:
    written(path)
    lines = path.read_text().splitlines()
    lines[line] = lines[line].replace('"p', '"q', 1)
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
    journal.append("phase", {"name": "p0"})
    first = path.stat().st_size
    journal.append("phase", {"name": "p1"})
    journal.close()
    assert seen == [0, first]


def test_observers_see_replayed_and_new_events_in_order(path: Path) -> None:
    written(path, 2)
    seen: list[tuple[str, bool]] = []
    journal = RunJournal(
        path, (lambda event, replayed: seen.append((event.body["name"], replayed)),)
    )
    for number in range(3):
        journal.append("phase", {"name": f"p{number}"})
    journal.close()
    assert seen == [("p0", True), ("p1", True), ("p2", False)]


def test_a_journal_that_cannot_be_written_is_the_users_fault(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        RunJournal(tmp_path / "absent" / "journal.jsonl")


def test_nan_never_enters_the_record(path: Path) -> None:
    journal = RunJournal(path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        journal.append("phase", {"x": float("nan")})
    journal.close()
    assert read_journal(path) == []
