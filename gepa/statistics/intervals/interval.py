"""Intervals: Wilson for a count, cluster-robust t for a mean over pairs in consultations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.table import FloatArray, IntArray

UNIT = (0.0, 1.0)
SIGNED_UNIT = (-1.0, 1.0)
NO_SPREAD = 1e-12
"""A standard error at or below this is a rounding error."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its two-sided interval at `level`, low <= estimate <= high."""

    estimate: float
    low: float
    high: float
    level: float
    method: str

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
    bounds: tuple[float, float] = SIGNED_UNIT,
) -> Interval | None:
    """Cluster-robust t interval of the mean of `values`, consultations as clusters.

    Student's t with G - 1 degrees of freedom around the ratio estimate, cut to `bounds`. Where no
    consultation differs from another the spread is not zero, only unseen: see `unseen_share`. One
    consultation says nothing about the others: the interval is all of `bounds`. None without
    values.
    """
    return (
        cluster_interval(ClusterSums.of(values, cluster), level=level, bounds=bounds)
        if values.size
        else None
    )


def cluster_interval(
    data: ClusterSums, *, level: float = 0.95, bounds: tuple[float, float] = SIGNED_UNIT
) -> Interval:
    """`cluster_t` of sums by consultation, one consultation or more."""
    estimate = float(data.mean)
    if data.clusters < 2:
        return Interval(estimate, *bounds, level, "none (one consultation)")
    ends = t_ends(data, level=level, bounds=bounds)
    method = "cluster-t" if float(data.standard_error) > NO_SPREAD else "exact bound (no spread)"
    return Interval(estimate, float(ends[0]), float(ends[1]), level, method)


def t_ends(
    data: ClusterSums, *, level: float, bounds: tuple[float, float] = SIGNED_UNIT
) -> FloatArray:
    """Lower and upper ends of `cluster_t`, shape (2, …), for two clusters or more."""
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
