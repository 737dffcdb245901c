"""The studentised sign-flip test: whole consultations flipped, the statistic over its own error.

The restricted wild cluster bootstrap with Rademacher weights (Cameron, Gelbach and Miller 2008;
Roodman and others 2019) of a ratio mean. Under the null each consultation's sum, less the margin
times its size, is as likely to have either sign. What is compared is not the flipped sum but the
sum over its cluster-robust standard error, taken anew in each flip: so a consultation that is much
larger than the others does not pass for many.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heldout.gepa.statistics.intervals.interval import (
    NO_SPREAD,
    SIGNED_UNIT,
    ClusterSums,
    Interval,
    cluster_interval,
)
from heldout.gepa.statistics.intervals.resampling import EXACT_CLUSTERS, RESAMPLES
from heldout.gepa.statistics.table import FloatArray

STEPS = 40
"""Halvings of an interval's end: to 2e-12 of the range."""
SLACK = 1e-9
"""Statistics this close count as equal, whatever the order of their sums."""


def sign_patterns(clusters: int, rng: np.random.Generator, patterns: int = RESAMPLES) -> FloatArray:
    """Signs +1 and -1, shape (clusters, patterns), the pattern that flips nothing first.

    All 2**clusters up to `EXACT_CLUSTERS`, otherwise `patterns` drawn ones and that one.
    """
    if clusters <= EXACT_CLUSTERS:
        bits = (np.arange(1 << clusters) >> np.arange(clusters)[:, None]) & 1
        return np.asarray(1.0 - 2.0 * bits)
    drawn = 1.0 - 2.0 * rng.integers(0, 2, size=(clusters, patterns))
    return np.concatenate([np.ones((clusters, 1)), drawn], axis=1)


def flipped_statistics(data: ClusterSums, signs: FloatArray, margin: float = 0.0) -> FloatArray:
    """The t statistic of every flip, shape (…, patterns), against `margin`.

    Without spread a flip whose mean is above (below) the margin has the statistic plus (minus)
    infinity, and 0 at it.
    """
    shifted = data.sums - margin * data.sizes
    sizes = np.broadcast_to(data.sizes, data.sums.shape)
    return _statistics(shifted, sizes, shifted @ signs, (shifted * sizes) @ signs)


def _statistics(
    shifted: FloatArray, sizes: FloatArray, sums: FloatArray, crossed: FloatArray
) -> FloatArray:
    """`flipped_statistics` of sums less the margin, given their flips plain and times size."""
    mean = sums / sizes.sum(axis=-1, keepdims=True)
    # The sum of squared residuals, expanded, so that no array of flipped data sets is needed.
    squares = (shifted**2).sum(axis=-1, keepdims=True)
    spread = squares - 2 * mean * crossed + mean**2 * (sizes**2).sum(axis=-1, keepdims=True)
    spread = np.maximum(spread, 0.0)
    seen = spread > NO_SPREAD * np.maximum(1.0, squares)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(seen, sums / np.sqrt(spread), np.sign(sums) * np.inf)
    return np.asarray(np.where(np.abs(sums) <= SLACK * np.sqrt(squares), 0.0, found))


def upper_p(statistics: FloatArray) -> FloatArray:
    """Share of flips that reach the first one's statistic, shape (…)."""
    observed = statistics[..., :1]
    slack = np.where(np.isfinite(observed), SLACK * np.maximum(1, np.abs(observed)), 0.0)
    return np.asarray((statistics >= observed - slack).mean(axis=-1))


@dataclass(frozen=True)
class StudentisedFlip:
    """The test of one data set, with `signs` from `sign_patterns`; two consultations or more."""

    data: ClusterSums
    signs: FloatArray

    def p(self, margin: float) -> float:
        """One-sided p of a mean above `margin`, in (0, 1]."""
        sums, sizes = self.data.sums, self.data.sizes
        flipped, crossed = (of_sums - margin * of_sizes for of_sums, of_sizes in self._flipped)
        return float(upper_p(_statistics(sums - margin * sizes, sizes, flipped, crossed)))

    @cached_property
    def _flipped(self) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Flips of sums and of sizes, plain and times size: every margin's are made of these."""
        sums, sizes = self.data.sums, self.data.sizes
        return (
            (sums @ self.signs, sizes @ self.signs),
            ((sums * sizes) @ self.signs, sizes**2 @ self.signs),
        )

    @cached_property
    def _mirrored(self) -> StudentisedFlip:
        return StudentisedFlip(ClusterSums(-self.data.sums, self.data.sizes), self.signs)

    def interval(self, level: float) -> Interval:
        """The margins that the test rejects on neither side at `level`, cut to the range.

        Without spread between consultations it is the exact bound of `cluster_interval`.
        """
        plain = cluster_interval(self.data, level=level)
        if float(self.data.standard_error) <= NO_SPREAD:
            return plain
        tail = 0.5 - level / 2
        low = self._end(SIGNED_UNIT[0], tail)
        high = -self._mirrored._end(-SIGNED_UNIT[1], tail)
        return Interval(plain.estimate, low, high, level, "studentised sign flip")

    def _end(self, bound: float, tail: float) -> float:
        """The highest margin below the mean that is rejected, `bound` where none is."""
        inside = float(self.data.mean)
        rejected = bound
        if inside <= bound or self.p(bound) > tail:
            return min(bound, inside)
        for _ in range(STEPS):
            middle = (rejected + inside) / 2
            if self.p(middle) <= tail:
                rejected = middle
            else:
                inside = middle
        return rejected
