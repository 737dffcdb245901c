"""Intervals for swept detection that choose the threshold again in every resample.

A threshold kept from the full data would hide the largest part of the uncertainty: which clean
notes happened to lie lowest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.gepa.statistics.intervals.interval import SIGNED_UNIT, UNIT, Interval
from heldout.gepa.statistics.intervals.resampling import (
    RESAMPLES,
    cluster_weights,
    quantile_interval,
)
from heldout.gepa.statistics.rates.detection import DEFAULT_CAP, allowed_flags, swept
from heldout.gepa.statistics.selection import Selection, rows_of
from heldout.gepa.statistics.table import BoolArray, FloatArray, ScoreTable

METHOD = "bootstrap-percentile, threshold re-chosen"
_BLOCK = 1_000
"""Resamples handled at once, so that memory stays bounded whatever the number of notes."""


@dataclass(frozen=True, slots=True)
class _Sweep:
    """Per consultation: notes flagged at each threshold, and how many there are.

    `found` and `alarms` have shape (consultations, thresholds), the sizes (consultations,).
    """

    found: FloatArray
    alarms: FloatArray
    errored: FloatArray
    clean: FloatArray

    def detection(self, weights: FloatArray, cap: float) -> FloatArray:
        """Swept detection in each resample, shape (resamples,); NaN without errored notes."""
        clean, errored = weights @ self.clean, weights @ self.errored
        limits = np.array([allowed_flags(cap, n) for n in range(int(clean.max(initial=0)) + 1)])
        within = weights @ self.alarms <= limits[clean.astype(np.int64)][:, None]
        best = np.where(within, weights @ self.found, 0.0).max(axis=1)
        rates = np.divide(best, errored, out=np.full_like(best, np.nan), where=errored > 0)
        return np.asarray(rates, dtype=np.float64)


def swept_interval(
    table: ScoreTable,
    rng: np.random.Generator,
    *,
    cap: float = DEFAULT_CAP,
    select: Selection = "omission",
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval of swept detection over consultations; None without errored notes."""
    estimate = swept(table, cap, select).detection.rate
    if estimate is None:
        return None
    sweep = _sweep(table, rows_of(table, select))
    draws = [sweep.detection(w, cap) for w in _weights(sweep, resamples, rng)]
    return _percentile(estimate, np.concatenate(draws), level, len(sweep.clean), UNIT)


def swept_difference(
    candidate: ScoreTable,
    baseline: ScoreTable,
    rng: np.random.Generator,
    *,
    cap: float = DEFAULT_CAP,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Interval of the difference of swept detection of omissions, each side at its own threshold.

    Both thresholds are chosen again in the same resampled consultations.
    """
    other = baseline.in_order_of(candidate.labels)
    rates = [swept(table, cap).detection.rate for table in (candidate, other)]
    if rates[0] is None or rates[1] is None:
        return None
    ours, theirs = (_sweep(table, table.omission) for table in (candidate, other))
    draws = [
        ours.detection(w, cap) - theirs.detection(w, cap) for w in _weights(ours, resamples, rng)
    ]
    found, groups = rates[0] - rates[1], len(ours.clean)
    return _percentile(found, np.concatenate(draws), level, groups, SIGNED_UNIT)


def _weights(sweep: _Sweep, resamples: int, rng: np.random.Generator) -> list[FloatArray]:
    groups = len(sweep.clean)
    return [
        cluster_weights(groups, min(_BLOCK, resamples - start), rng)
        for start in range(0, resamples, _BLOCK)
    ]


def _sweep(table: ScoreTable, rows: BoolArray) -> _Sweep:
    groups = int(table.cluster.max(initial=-1)) + 1
    # Between two clean scores the best threshold is the higher one, so no other score matters.
    scored = table.rounded[(rows | table.clean) & ~table.missing]
    clean_scores = table.rounded[table.clean & ~table.missing]
    grid = np.append(np.unique(clean_scores), scored.max(initial=0.0) + 1.0)

    def flagged(mask: BoolArray) -> FloatArray:
        """Cumulative counts: a note is flagged at every threshold above its own score."""
        counts = np.zeros((groups, grid.size))
        at = np.searchsorted(grid, table.rounded[mask], side="right")
        np.add.at(counts, (table.cluster[mask], at), 1.0)
        return counts.cumsum(axis=1)

    def sizes(mask: BoolArray) -> FloatArray:
        return np.bincount(table.cluster[mask], minlength=groups).astype(np.float64)

    return _Sweep(
        flagged(rows & ~table.missing),
        flagged(table.clean & ~table.missing),
        sizes(rows),
        sizes(table.clean),
    )


def _percentile(
    estimate: float, draws: FloatArray, level: float, clusters: int, bounds: tuple[float, float]
) -> Interval | None:
    draws = draws[~np.isnan(draws)]
    if not draws.size:
        return None
    return quantile_interval(
        estimate, draws, level=level, clusters=clusters, method=METHOD, bounds=bounds
    )
