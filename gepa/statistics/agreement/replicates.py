"""Several judgings of the same notes: flags by strict majority, run-to-run spread.

Scores are never averaged over replicates: an average of ten and eight ties with nothing that either
run said. Paired figures are taken in each replicate and averaged; flags go by strict majority.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.statistics.selection import Selection
from heldout.gepa.statistics.table import BoolArray, ScoreTable


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure per run, in order of runs; a difference within the span may be noise."""

    values: tuple[float | None, ...]
    span: float | None
    """Highest minus lowest; None with fewer than two runs that have a figure."""

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread:
        """The spread of one figure per run."""
        known = [value for value in values if value is not None]
        return cls(tuple(values), max(known) - min(known) if len(known) > 1 else None)

    @property
    def mean(self) -> float | None:
        """Mean of the runs that have a figure."""
        known = [value for value in self.values if value is not None]
        return sum(known) / len(known) if known else None


def paired_spread(tables: Sequence[ScoreTable], select: Selection = "omission") -> Spread:
    """Paired discrimination of each replicate."""
    return Spread.of([paired(table, select).value for table in tables])


def strict_majority(flags: Sequence[BoolArray]) -> BoolArray:
    """True where more than half of the replicates flag, shape (notes,); a tie is not flagged."""
    return np.asarray(2 * np.sum(flags, axis=0) > len(flags), dtype=np.bool_)


def majority_table(tables: Sequence[ScoreTable]) -> ScoreTable:
    """One table whose flags at any threshold are the strict majority of the replicates' flags.

    More than half of R scores are below t exactly when the (floor(R / 2) + 1)-th lowest is. A
    missing score is never flagged, so it counts as above every threshold.
    """
    if len(tables) == 1:
        return tables[0]
    labels = tables[0].labels
    stacked = np.array([table.in_order_of(labels).values for table in tables])
    ranked = np.sort(np.where(np.isnan(stacked), np.inf, stacked), axis=0)[len(tables) // 2]
    scores = tuple(float(score) if np.isfinite(score) else None for score in ranked)
    return ScoreTable(labels, scores)
