"""Score tables: what every measure, interval and gate rule is a function of.

A table is labels beside scores, one row a note, clean notes included. A score of None is a note
that was judged but has no score (contract violation, refusal, truncation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from heldout.splits.benchmark import NoteLabel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

DECIMALS = 9
"""Decimals that scores and candidate thresholds are rounded to before they are compared."""


@dataclass(frozen=True)
class ScoreTable:
    """Scores of one block on one set of notes.

    `scores[i]` belongs to `labels[i]`; every errored note's twin must be among the labels.
    Raises ValueError for different lengths, a repeated id, a missing twin or a non-finite score.
    """

    labels: tuple[NoteLabel, ...]
    scores: tuple[float | None, ...]

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.scores):
            raise ValueError(f"{len(self.labels)} labels beside {len(self.scores)} scores")
        if len(self.position) != len(self.labels):
            raise ValueError("a note id stands twice in one score table")
        for label in self.labels:
            if label.twin not in self.position:
                raise ValueError(
                    f"note {label.id}: its clean twin {label.twin} is not in the table"
                )
        if not np.isfinite(self.values[~self.missing]).all():
            raise ValueError("scores must be finite numbers or None")

    @classmethod
    def of(cls, labels: Sequence[NoteLabel], scores: Mapping[str, float | None]) -> ScoreTable:
        """The table of `scores` (note id to score) in the order of `labels`."""
        return cls(tuple(labels), tuple(scores[label.id] for label in labels))

    def in_order_of(self, labels: Sequence[NoteLabel]) -> ScoreTable:
        """The same scores in the order of `labels`.

        Raises ValueError when `labels` are not the labels of this table: figures on different notes
        are not compared.
        """
        if tuple(labels) == self.labels:
            return self
        mine = {label.id: label for label in self.labels}
        if len(labels) != len(mine) or any(mine.get(label.id) != label for label in labels):
            raise ValueError("the two score tables are not about the same notes")
        return ScoreTable(tuple(labels), tuple(self.scores[self.position[x.id]] for x in labels))

    @cached_property
    def position(self) -> dict[str, int]:
        """Row of each note id."""
        return {label.id: row for row, label in enumerate(self.labels)}

    @cached_property
    def values(self) -> FloatArray:
        """Scores as floats, shape (notes,), NaN where there is none."""
        return np.array([np.nan if s is None else s for s in self.scores], dtype=np.float64)

    @cached_property
    def rounded(self) -> FloatArray:
        """Scores rounded to nine decimals, the form every comparison is made in.

        Two scores that differ by less are a product of floating point, not a judgement.
        """
        return np.round(self.values, DECIMALS)

    @cached_property
    def missing(self) -> BoolArray:
        """True where a note has no score, shape (notes,)."""
        return np.array([score is None for score in self.scores], dtype=np.bool_)

    @cached_property
    def twin(self) -> IntArray:
        """Row of each note's clean twin, shape (notes,)."""
        return np.array([self.position[label.twin] for label in self.labels], dtype=np.int64)

    @cached_property
    def cluster(self) -> IntArray:
        """Index of each note's consultation in order of names, shape (notes,).

        The order of rows must not reach a resample, so consultations are numbered by name.
        """
        names = {label.consultation for label in self.labels}
        index = {name: number for number, name in enumerate(sorted(names))}
        return np.array([index[label.consultation] for label in self.labels], dtype=np.int64)

    @cached_property
    def omission(self) -> BoolArray:
        """Rows that are omissions, shape (notes,)."""
        return np.array([label.note_class.is_omission for label in self.labels], dtype=np.bool_)

    @cached_property
    def commission(self) -> BoolArray:
        """Rows that are commissions, shape (notes,)."""
        return np.array([label.note_class.is_commission for label in self.labels], dtype=np.bool_)

    @cached_property
    def clean(self) -> BoolArray:
        """Rows that are clean notes, shape (notes,)."""
        return np.array([label.is_clean for label in self.labels], dtype=np.bool_)
