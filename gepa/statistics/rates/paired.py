"""Paired discrimination: how often an errored note scores strictly below its own clean twin.

Ties count half, so 0.5 is chance whatever the scale. The figure compares a note with its twin only:
adding a constant or relabelling the scores monotonically changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.gepa.statistics.selection import Selection, rows_of
from heldout.gepa.statistics.table import BoolArray, IntArray, ScoreTable


@dataclass(frozen=True, slots=True)
class Paired:
    """Pairs of one selection in one table.

    `n` = wins + ties + losses, over pairs in which both notes have a score; `violations` counts the
    pairs in which one has not.
    """

    wins: int
    ties: int
    losses: int
    violations: int = 0

    @property
    def n(self) -> int:
        """Pairs in which both notes have a score."""
        return self.wins + self.ties + self.losses

    @property
    def half_points(self) -> int:
        """Two a win, one a tie: the figure as an integer, 0 to 2n."""
        return 2 * self.wins + self.ties

    @property
    def value(self) -> float | None:
        """Share in [0, 1], or None when no pair has both scores."""
        return self.half_points / (2 * self.n) if self.n else None

    @property
    def full(self) -> float | None:
        """The same over all pairs: one without an answer counts as a loss, as in a difference."""
        return self.half_points / (2 * (self.n + self.violations)) if self.n else None


def paired(table: ScoreTable, select: Selection = "omission") -> Paired:
    """Paired discrimination of `table` over the pairs of `select`."""
    rows = rows_of(table, select)
    answered = answered_pairs(table)[rows]
    points = half_points(table)[rows][answered]
    return Paired(
        wins=int((points == 2).sum()),
        ties=int((points == 1).sum()),
        losses=int((points == 0).sum()),
        violations=int((~answered).sum()),
    )


def answered_pairs(table: ScoreTable) -> BoolArray:
    """True where a note and its twin both have a score, shape (notes,)."""
    return ~(table.missing | table.missing[table.twin])


def half_points(table: ScoreTable) -> IntArray:
    """2 below the twin, 1 tied, 0 above, shape (notes,); 0 where a score is missing.

    For a clean note, which is its own twin, the entry says nothing.
    """
    own, twin = table.rounded, table.rounded[table.twin]
    return np.asarray(2 * (own < twin) + (own == twin), dtype=np.int64)
