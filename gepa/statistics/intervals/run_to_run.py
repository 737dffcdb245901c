"""A mean whose replicates move as a whole: consultations and runs crossed.

A run of a judge can be a little better or worse everywhere (another model build, another batch).
That part is the same for all consultations of a run, so it does not show in the spread between
consultations and does not go away with more of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtr

from heldout.gepa.statistics.intervals.interval import (
    NO_SPREAD,
    SIGNED_UNIT,
    ClusterSums,
    Interval,
    exact_bound,
    t_quantile,
    unseen_p,
)
from heldout.gepa.statistics.table import FloatArray

FEWEST_RUNS = 3
"""Replicates from which on the spread between runs is estimated."""


@dataclass(frozen=True)
class CrossedSums:
    """Sums by run and consultation, shape (…, runs, consultations), and sizes (…, consultations).

    Two consultations or more, `FEWEST_RUNS` runs or more. Every run judges the same pairs.
    """

    sums: FloatArray
    sizes: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The ratio estimate over all runs, shape (…)."""
        runs = self.sums.shape[-2]
        return np.asarray(self.sums.sum(axis=(-2, -1)) / self.sizes.sum(axis=-1) / runs)

    def variance(self) -> tuple[FloatArray, FloatArray]:
        """Variance of the mean and its degrees of freedom (Satterthwaite 1946), shape (…) each.

        Between consultations, as without replicates, plus max(0, between runs - cell / G) / R:
        `cell` is the interaction of the two-way layout, G consultations by R runs.
        """
        runs, groups = self.sums.shape[-2:]
        scale = groups / self.sizes.sum(axis=-1)[..., None, None]
        residual = self.sums - self.mean[..., None, None] * self.sizes[..., None, :]
        scaled = residual * scale
        of_groups, of_runs = scaled.mean(axis=-2), scaled.mean(axis=-1)
        between = (of_groups**2).sum(axis=-1) / (groups - 1) / groups
        spread = of_runs.var(axis=-1, ddof=1)
        rest = scaled - of_groups[..., None, :] - of_runs[..., :, None]
        cell = (rest**2).sum(axis=(-2, -1)) / ((groups - 1) * (runs - 1))
        own = spread - cell / groups
        total = between + np.maximum(0.0, own) / runs
        parts = (
            between**2 / (groups - 1)
            + (spread / runs) ** 2 / (runs - 1)
            + (cell / groups / runs) ** 2 / ((groups - 1) * (runs - 1))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            crossed = np.where(parts > 0, total**2 / parts, groups - 1)
        degrees = np.where(own > 0, np.minimum(crossed, groups - 1), groups - 1)
        return np.asarray(total), np.asarray(np.maximum(1.0, degrees))


def crossed_interval(
    data: CrossedSums, *, level: float, bounds: tuple[float, float] = SIGNED_UNIT
) -> Interval:
    """The t interval of one data set's mean with both components of variance, cut to `bounds`.

    The exact bound where neither consultations nor runs differ.
    """
    total, degrees = data.variance()
    mean, error = float(data.mean), sqrt(float(total))
    if error <= NO_SPREAD:
        return exact_bound(mean, data.sizes.shape[-1], level=level, bounds=bounds)
    half = error * t_quantile(0.5 + level / 2, float(degrees))
    low, high = max(bounds[0], mean - half), min(bounds[1], mean + half)
    return Interval(mean, min(low, mean), max(high, mean), level, "t, consultations and runs")


def crossed_p(data: CrossedSums, margin: float) -> float:
    """One-sided p of one data set's mean above `margin`, with both components of variance."""
    total, degrees = data.variance()
    mean, error = float(data.mean), sqrt(float(total))
    if error <= NO_SPREAD:
        return unseen_p(ClusterSums(data.sums.mean(axis=-2), data.sizes), margin)
    return float(stdtr(float(degrees), (margin - mean) / error))
