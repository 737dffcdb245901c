"""The blindness check: stages that read the transcript alone must not have seen a note."""

from __future__ import annotations

from collections.abc import Iterable

from heldout.splits.errors import HeldoutError

WINDOW = 120
"""Length in characters of the three windows (start, middle, end) looked for."""


class NoteLeaked(HeldoutError):
    """A transcript-only prompt about `consultation` holds words of one of its notes."""

    def __init__(self, consultation: str, stage: str) -> None:
        self.consultation, self.stage = consultation, stage
        super().__init__(
            f"consultation {consultation}: the prompt of stage «{stage}» contains part of a note, "
            "although this stage must see the transcript alone; check the transcript file and the "
            "frame"
        )


def squeezed(text: str) -> str:
    """Letter case and runs of white space normalised."""
    return " ".join(text.casefold().split())


def windows(text: str) -> tuple[str, ...]:
    """Start, middle and end of a note, normalised; a shorter note is one window, an empty none."""
    note = squeezed(text)
    if len(note) <= WINDOW:
        return (note,) if note else ()
    middle = (len(note) - WINDOW) // 2
    return (note[:WINDOW], note[middle : middle + WINDOW], note[-WINDOW:])


def assert_blind(prompt: str, notes: Iterable[str], consultation: str, stage: str) -> None:
    """Raise NoteLeaked if a window of any of `notes` occurs in `prompt`."""
    seen = squeezed(prompt)
    if any(window in seen for note in notes for window in windows(note)):
        raise NoteLeaked(consultation, stage)
