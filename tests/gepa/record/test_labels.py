"""Labels as the partition event holds them, there and back."""

from __future__ import annotations

import pytest
from tests.benchmarks.in_process import consultation

from heldout.gepa.record.codec import plain
from heldout.gepa.record.events import NoteEntry


@pytest.mark.parametrize("number", range(5))
def test_a_label_survives_the_journal(number: int) -> None:
    label = consultation(1).notes[number].label
    entry = NoteEntry.of(label, "accept")
    assert plain(entry)["class"] == label.note_class
    assert (entry.split, entry.label(label.id)) == ("accept", label)
