"""Threshold-free and best-cut figures over all errored against all clean notes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.selection import Selection, rows_of
from heldout.gepa.statistics.table import ScoreTable


@dataclass(frozen=True, slots=True)
class Auc:
    """Chance that a random errored note scores below a random clean one, ties half, in [0, 1].

    Over notes with a score; None where one side has none. Unlike paired discrimination it mixes
    consultations, so a judge whose scale drifts between consultations loses here.
    """

    value: float | None
    errored: int
    clean: int


def auc(table: ScoreTable, select: Selection = "omission") -> Auc:
    """Area under the ROC curve by the rank-sum identity."""
    errored = table.rounded[rows_of(table, select) & ~table.missing]
    clean = table.rounded[table.clean & ~table.missing]
    m, n = errored.size, clean.size
    if not m or not n:
        return Auc(None, m, n)
    ranks = scipy.stats.rankdata(np.concatenate([clean, errored]))[:n]
    return Auc(float(ranks.sum() - n * (n + 1) / 2) / (m * n), m, n)


@dataclass(frozen=True, slots=True)
class BestCut:
    """The threshold with the largest detection minus false alarms (Youden's J), `score < t`.

    It is chosen on the data it is reported on, so J is optimistic.
    """

    threshold: float | None
    j: float | None
    detection: Count
    false_alarms: Count


def youden(table: ScoreTable, select: Selection = "omission") -> BestCut:
    """Youden's best cut over the distinct scores and one above; of equals the lowest threshold."""
    rows = rows_of(table, select)
    errored = np.sort(table.rounded[rows & ~table.missing])
    clean = np.sort(table.rounded[table.clean & ~table.missing])
    m, n = int(rows.sum()), int(table.clean.sum())
    grid = np.unique(np.concatenate([errored, clean]))
    if not grid.size or not m or not n:
        return BestCut(None, None, Count(0, m), Count(0, n))
    grid = np.append(grid, grid[-1] + 1.0)
    found, alarms = (np.searchsorted(x, grid, side="left") for x in (errored, clean))
    best = int(np.argmax(found * n - alarms * m))  # integers: equal cuts are exactly equal
    k, f = int(found[best]), int(alarms[best])
    return BestCut(float(grid[best]), k / m - f / n, Count(k, m), Count(f, n))
