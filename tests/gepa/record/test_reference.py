"""`docs/events.md` says what the types say."""

from __future__ import annotations

from tests.support.event_reference import COMMAND, PAGE, reference

from heldout.gepa.record.kinds import EventKind, FinishReason


def test_the_reference_of_events_is_true() -> None:
    assert PAGE.read_text("utf-8") == reference(), f"make docs/events.md again: {COMMAND}"


def test_every_event_and_every_reason_to_finish_has_its_place() -> None:
    lines = reference().splitlines()
    assert {f"## {kind}" for kind in EventKind} <= set(lines)
    listed = lines[lines.index("## FinishReason") :]
    for reason in FinishReason:
        assert any(line.startswith(f"- `{reason}`: ") for line in listed), reason


def test_every_link_has_a_section() -> None:
    page = reference()
    sections = {line[3:].lower() for line in page.splitlines() if line.startswith("## ")}
    linked = {part.split(")")[0] for part in page.split("](#")[1:]}
    assert linked <= sections
