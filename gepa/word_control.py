"""The standing control: a judge that counts words.

An omission is shorter than its twin, so counting words orders nearly every omission rightly and
every addition wrongly. Its figures stand beside those of every block, and the word counts stay on
record so that a report can show how far a judge's scores merely follow length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heldout.gepa.record.events import ControlEvent
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import measures_of_table
from heldout.gepa.statistics.rates.detection import swept
from heldout.gepa.statistics.selection import PairKind
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Note, NoteLabel
from heldout.splits.overlap import words


def word_counts(notes: Sequence[Note]) -> dict[str, int]:
    """Words of each note, by id."""
    return {note.id: len(words(note.text)) for note in notes}


def word_count_table(labels: Sequence[NoteLabel], counts: Mapping[str, int]) -> ScoreTable:
    """Word counts as scores."""
    return ScoreTable(tuple(labels), tuple(float(counts[label.id]) for label in labels))


def word_judge(accept: ScoreTable, heldout: ScoreTable, cap: float, pairs: PairKind) -> Judged:
    """The word count on held-out, at the threshold that its own sweep of accept freezes."""
    return Judged.once(heldout, threshold=swept(accept, cap, pairs).threshold)


def control_event(
    split: str, labels: Sequence[NoteLabel], counts: Mapping[str, int]
) -> ControlEvent:
    """The control event of one split."""
    table = word_count_table(labels, counts)
    return ControlEvent(split=split, words=dict(counts), measures=measures_of_table(table))
