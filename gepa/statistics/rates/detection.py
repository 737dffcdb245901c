"""Detection and false alarms: at a threshold that is swept, frozen, or at a rule of the design.

Denominators are full: a note without a score is not flagged and stays in `n`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.selection import Selection, rows_of
from heldout.gepa.statistics.table import DECIMALS, BoolArray, FloatArray, ScoreTable
from heldout.splits.counted import counted

DEFAULT_CAP = 0.10


@dataclass(frozen=True, slots=True)
class AtRule:
    """What a rule fixed before the data was seen detects, and how many clean notes it flags."""

    detection: Count
    false_alarms: Count


@dataclass(frozen=True, slots=True)
class Swept:
    """The most sensitive threshold within the cap, with what it detects there.

    The flag is `score < threshold`. `threshold` is None when no note has a score. `floor` is what a
    judge with no signal detects in this way on average (None without clean notes).
    """

    detection: Count
    false_alarms: Count
    threshold: float | None
    floor: float | None


def allowed_flags(cap: float, clean: int) -> int:
    """How many of `clean` notes may be flagged under `cap`, computed in exact decimals."""
    if not 0 <= cap <= 1:
        raise ValueError(f"cap {cap} is not in [0, 1]")
    return floor(Fraction(repr(float(cap))) * clean)


def chance_floor(cap: float, clean: int) -> float | None:
    """Detection of a judge with no signal when its threshold is swept on `clean` notes.

    With c allowed flags the threshold is the (c + 1)-th lowest of n clean scores, and a score from
    the same distribution falls below it with probability (c + 1) / (n + 1).
    """
    return min(1.0, (allowed_flags(cap, clean) + 1) / (clean + 1)) if clean else None


def swept(table: ScoreTable, cap: float = DEFAULT_CAP, select: Selection = "omission") -> Swept:
    """Detection at the most sensitive threshold whose flags on clean notes are within `cap`.

    Thresholds are the distinct scores of clean notes and of `select`, and one above the highest,
    all rounded to nine decimals; of thresholds with the same detection the lowest.
    """
    rows = rows_of(table, select)
    errored, clean = _sorted_scores(table, rows), _sorted_scores(table, table.clean)
    n_clean, n_errored = int(table.clean.sum()), int(rows.sum())
    grid = np.unique(np.concatenate([errored, clean]))
    if not grid.size:
        return Swept(Count(0, n_errored), Count(0, n_clean), None, chance_floor(cap, n_clean))
    grid = np.append(grid, grid[-1] + 1.0)
    alarms = np.searchsorted(clean, grid, side="left")
    found = np.searchsorted(errored, grid, side="left")
    within = alarms <= allowed_flags(cap, n_clean)
    best = int(np.argmax(np.where(within, found, -1)))
    return Swept(
        Count(int(found[best]), n_errored),
        Count(int(alarms[best]), n_clean),
        float(grid[best]),
        chance_floor(cap, n_clean),
    )


def threshold_flags(table: ScoreTable, threshold: float) -> BoolArray:
    """True where a note scores below `threshold`, shape (notes,)."""
    below = table.rounded < round(threshold, DECIMALS)
    return np.asarray(~table.missing & below, dtype=np.bool_)


def flag_array(table: ScoreTable, flags: Mapping[str, bool | None]) -> BoolArray:
    """`flags` in the order of the table, None as not flagged, shape (notes,)."""
    absent = [label.id for label in table.labels if label.id not in flags]
    if absent:
        raise ValueError(f"{counted(len(absent), 'note')} without a flag, the first is {absent[0]}")
    return np.array([flags[label.id] is True for label in table.labels], dtype=np.bool_)


def _sorted_scores(table: ScoreTable, rows: BoolArray) -> FloatArray:
    return np.sort(table.rounded[rows & ~table.missing])
