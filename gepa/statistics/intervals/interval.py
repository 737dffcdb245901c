"""Intervals over consultations: Wilson's for one judge's share, Student's t for a difference.

A plain Wilson interval of a count stands where each case has a consultation of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy

from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.table import FloatArray, IntArray

UNIT, SIGNED_UNIT = (0.0, 1.0), (-1.0, 1.0)
NO_SPREAD = 1e-12
"""A standard error at or below this is a rounding error."""
NOTHING_DIFFERS = "exact bound (no spread)"
"""Method of an interval where no consultation differs from another."""
ONE_CONSULTATION = "none (one consultation)"
"""Method where there is an estimate and nothing to tell its error by."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its two-sided interval at `level`, low <= estimate <= high."""

    estimate: float
    low: float
    high: float
    level: float
    method: str

    @property
    def known(self) -> bool:
        """False where one consultation leaves the whole range open, which is no interval."""
        return self.method != ONE_CONSULTATION

    def to_json(self) -> dict[str, object]:
        """`{estimate, low, high, level, method}`."""
        return {
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """All that a cluster method needs of the data: per consultation the sum and the number.

    `sums` and `sizes` have shape (…, clusters), where leading axes hold many data sets at once;
    sizes are positive.
    """

    sums: FloatArray
    sizes: FloatArray

    @classmethod
    def of(cls, values: FloatArray, cluster: IntArray) -> ClusterSums:
        """Sums of `values` (pairs,) by `cluster` (pairs,); clusters without a pair drop out."""
        _, index = np.unique(cluster, return_inverse=True)
        sizes = np.bincount(index).astype(np.float64)
        sums = np.bincount(index, weights=values, minlength=len(sizes)).astype(np.float64)
        return cls(sums, sizes)

    @property
    def clusters(self) -> int:
        """Number of consultations."""
        return int(self.sums.shape[-1])

    @property
    def effective(self) -> float:
        """Effective number of consultations of one data set: (sum of sizes)^2 / sum of squares."""
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    @property
    def mean(self) -> FloatArray:
        """The ratio estimate: all sums over all sizes, shape (…)."""
        return np.asarray(self.sums.sum(axis=-1) / self.sizes.sum(axis=-1))

    @property
    def equal_weight(self) -> FloatArray:
        """The mean with each consultation weighted alike, whatever its size, shape (…)."""
        return np.asarray((self.sums / self.sizes).mean(axis=-1))

    @property
    def standard_error(self) -> FloatArray:
        """Linearised standard error of the ratio, shape (…); NaN with a single cluster.

        The residual of a cluster is its sum minus mean times size; the factor G / (G - 1) makes up
        for the mean having been estimated.
        """
        g = self.clusters
        if g < 2:
            return np.full(self.sums.shape[:-1], np.nan)
        residual = self.sums - self.mean[..., None] * self.sizes
        return np.asarray(
            np.sqrt((residual**2).sum(axis=-1) * g / (g - 1)) / self.sizes.sum(axis=-1)
        )


def cluster_t(
    values: FloatArray,
    cluster: IntArray,
    *,
    level: float = 0.95,
) -> Interval | None:
    """Cluster-robust t interval of the mean of `values` in [-1, 1], consultations as clusters.

    Student's t with G - 1 degrees of freedom around the ratio estimate, cut to the range. Where no
    consultation differs from another the spread is not zero, only unseen: see `unseen_share`. One
    consultation says nothing about the others: the interval is the whole range. None without
    values.
    """
    if not values.size:
        return None
    return cluster_interval(ClusterSums.of(values, cluster), level=level)


def cluster_interval(data: ClusterSums, *, level: float = 0.95) -> Interval:
    """`cluster_t` of sums by consultation, one consultation or more."""
    estimate = float(data.mean)
    if data.clusters < 2 or float(data.standard_error) <= NO_SPREAD:
        return exact_bound(estimate, data.clusters, level=level)
    ends = t_ends(data, level=level)
    return Interval(estimate, float(ends[0]), float(ends[1]), level, "cluster-t")


def cluster_wilson(
    values: FloatArray, cluster: IntArray, *, level: float = 0.95
) -> Interval | None:
    """Wilson's score interval of the mean of `values` in [0, 1], consultations as clusters.

    The number of cases is the effective one: as many independent right-or-wrong cases as would have
    the standard error that is seen between consultations. Pairs of a consultation count at most as
    independent and at least as one. The quantile is Student's with G - 1 degrees of freedom. Where
    all values are the same the interval still has a width. One consultation leaves the whole range;
    None without values.
    """
    if not values.size:
        return None
    data = ClusterSums.of(values, cluster)
    estimate = float(data.mean)
    if data.clusters < 2:
        return exact_bound(estimate, 1, level=level, bounds=UNIT)
    cases, t = _effective_cases(data, values), t_quantile(0.5 + level / 2, data.clusters - 1)
    centre = (estimate + t**2 / (2 * cases)) / (1 + t**2 / cases)
    spread = estimate * (1 - estimate) / cases + t**2 / (4 * cases**2)
    half = t * sqrt(max(0.0, spread)) / (1 + t**2 / cases)
    low, high = max(0.0, min(centre - half, estimate)), min(1.0, max(centre + half, estimate))
    return Interval(estimate, low, high, level, "cluster-wilson")


def _effective_cases(data: ClusterSums, values: FloatArray) -> float:
    mean, spread = float(data.mean), float(values.var())
    if spread <= NO_SPREAD:
        return data.effective
    inflation = float(data.standard_error) ** 2 * values.size / spread
    independent = values.size / min(max(inflation, 1.0), values.size / data.effective)
    return independent * mean * (1 - mean) / spread


def t_ends(data: ClusterSums, *, level: float) -> FloatArray:
    """Lower and upper ends of `cluster_t`, shape (2, …), for two clusters or more."""
    bounds = SIGNED_UNIT
    mean, error = data.mean, data.standard_error
    half = error * t_quantile(0.5 + level / 2, data.clusters - 1)
    share = unseen_share(data.clusters, 0.5 - level / 2)
    spread = error > NO_SPREAD
    low = np.where(spread, mean - half, mean - share * (mean - bounds[0]))
    high = np.where(spread, mean + half, mean + share * (bounds[1] - mean))
    # The cut cannot pass the mean, which may stand a rounding error outside the bounds.
    return np.stack(
        [
            np.minimum(mean, np.maximum(low, bounds[0])),
            np.maximum(mean, np.minimum(high, bounds[1])),
        ]
    )


def unseen_share(clusters: int, tail: float) -> float:
    """Largest share of consultations that can be otherwise while none of `clusters` shows it.

    Exact: with share q otherwise, all are alike with probability (1 - q)**clusters, which is `tail`
    at the bound. An interval lets that share lie at the end of the range.
    """
    return float(1 - tail ** (1 / clusters))


def exact_bound(
    estimate: float, clusters: int, *, level: float, bounds: tuple[float, float] = SIGNED_UNIT
) -> Interval:
    """The interval of `estimate` where none of `clusters` differs, by `unseen_share`.

    All of `bounds` for one consultation, which says nothing about the others.
    """
    if clusters < 2:
        return Interval(estimate, *bounds, level, ONE_CONSULTATION)
    share = unseen_share(clusters, 0.5 - level / 2)
    low, high = estimate - share * (estimate - bounds[0]), estimate + share * (bounds[1] - estimate)
    return Interval(estimate, min(low, estimate), max(high, estimate), level, NOTHING_DIFFERS)


def unseen_p(data: ClusterSums, margin: float) -> float:
    """One-sided p of a data set without spread: the level at which its exact bound is `margin`."""
    mean = float(data.mean)
    share = (mean - margin) / (mean + 1) if mean > margin else 0.0
    return float((1 - share) ** data.clusters)


def t_quantile(probability: float, degrees: float) -> float:
    """Quantile of Student's t."""
    return float(scipy.special.stdtrit(degrees, probability))


def wilson(count: Count, *, level: float = 0.95) -> Interval | None:
    """Wilson's score interval of a share; None for 0 of 0.

    Cases count as independent: for notes that share consultations it is too short, and it stands
    where a study printed it or where each case has its own consultation.
    """
    if not count.n:
        return None
    bounds = scipy.stats.binomtest(count.k, count.n).proportion_ci(level, method="wilson")
    return Interval(count.k / count.n, float(bounds.low), float(bounds.high), level, "wilson")
