"""Resampling of consultations: bootstrap and sign flips, vectorised over resamples.

The unit that is drawn is the consultation with all its pairs. Every function takes the generator
or its seed: there is no default one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from heldout.gepa.statistics.intervals.interval import (
    NO_SPREAD,
    SIGNED_UNIT,
    ClusterSums,
    Interval,
    exact_bound,
)
from heldout.gepa.statistics.table import FloatArray, IntArray
from heldout.splits.randomness import Part, bits

RESAMPLES = 10_000
EXACT_CLUSTERS = 13
"""Up to this many consultations all 2**G sign patterns are enumerated."""
_CELLS = 1 << 21
"""Cells of a resample matrix held at once: 16 MB."""

BootstrapMethod = Literal["percentile", "bca"]


def generator(*path: Part) -> np.random.Generator:
    """A NumPy generator whose stream is a pure function of `path`."""
    return np.random.default_rng(bits(*path, width=128))


def cluster_draws(clusters: int, resamples: int, rng: np.random.Generator) -> IntArray:
    """Indices of consultations drawn with replacement, shape (resamples, clusters)."""
    return rng.integers(0, clusters, size=(resamples, clusters), dtype=np.int64)


def cluster_weights(clusters: int, resamples: int, rng: np.random.Generator) -> FloatArray:
    """How often each consultation was drawn, shape (resamples, clusters); rows sum to clusters.

    For statistics that are products with a matrix; `cluster_draws` is faster for plain means.
    """
    draws = cluster_draws(clusters, resamples, rng)
    flat = (draws + np.arange(resamples)[:, None] * clusters).ravel()
    counts = np.bincount(flat, minlength=resamples * clusters)
    return counts.reshape(resamples, clusters).astype(np.float64)


def bootstrap_means(
    data: ClusterSums, rng: np.random.Generator, *, resamples: int = RESAMPLES
) -> FloatArray:
    """The ratio estimate in each resample of consultations, shape (resamples,)."""
    block = max(1, _CELLS // data.clusters)
    parts = []
    for start in range(0, resamples, block):
        draws = cluster_draws(data.clusters, min(block, resamples - start), rng)
        parts.append(data.sums[draws].sum(axis=1) / data.sizes[draws].sum(axis=1))
    return np.concatenate(parts)


def bootstrap_interval(
    data: ClusterSums,
    draws: FloatArray,
    *,
    level: float = 0.95,
    method: BootstrapMethod = "percentile",
) -> Interval:
    """Percentile or bias-corrected accelerated interval from `bootstrap_means` of `data`."""
    tails = np.array([0.5 - level / 2, 0.5 + level / 2])
    if method == "bca":
        tails = _bca_tails(tails, draws, float(data.mean), jackknife(data))
    name = f"bootstrap-{method}"
    return quantile_interval(
        float(data.mean), draws, level=level, clusters=data.clusters, method=name, tails=tails
    )


def quantile_interval(
    estimate: float,
    draws: FloatArray,
    *,
    level: float,
    clusters: int,
    method: str = "bootstrap-percentile",
    tails: FloatArray | None = None,
    bounds: tuple[float, float] = SIGNED_UNIT,
) -> Interval:
    """The interval between two quantiles of `draws`, widened to hold the estimate.

    `tails` are their probabilities, by default those that leave out as much on either side. Where
    the quantiles fall together the spread of the `clusters` is unseen, not zero: `exact_bound`.
    """
    low, high = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2] if tails is None else tails)
    low, high = min(float(low), estimate), max(float(high), estimate)
    if high - low <= NO_SPREAD:
        return exact_bound(estimate, clusters, level=level, bounds=bounds)
    return Interval(estimate, low, high, level, method)


def jackknife(data: ClusterSums) -> FloatArray:
    """The ratio estimate with each consultation left out, shape (clusters,).

    Raises ValueError with a single consultation, where nothing is left.
    """
    if data.clusters < 2:
        raise ValueError("one consultation cannot be left out of itself")
    left = data.sums.sum() - data.sums
    return np.asarray(left / (data.sizes.sum() - data.sizes))


def _bca_tails(
    tails: FloatArray, draws: FloatArray, estimate: float, left_out: FloatArray
) -> FloatArray:
    """Efron's adjusted tail probabilities (1987): bias from the draws, acceleration from jackknife.

    Draws equal to the estimate count half on either side.
    """
    below = float((draws < estimate).mean() + (draws == estimate).mean() / 2)
    deviation = left_out.mean() - left_out
    spread = float((deviation**2).sum())
    if not 0 < below < 1 or spread == 0:
        return tails
    bias = float(scipy.special.ndtri(below))
    acceleration = float((deviation**3).sum()) / (6 * spread**1.5)
    shifted = bias + scipy.special.ndtri(tails)
    return np.asarray(scipy.special.ndtr(bias + shifted / (1 - acceleration * shifted)))


@dataclass(frozen=True, slots=True)
class SignFlip:
    """One-sided consultation sign-flip test: `p`, and the number of sign patterns behind it."""

    p: float
    patterns: int
    exact: bool


def sign_flip(
    data: ClusterSums,
    rng: np.random.Generator,
    *,
    margin: float = 0.0,
    patterns: int = RESAMPLES,
) -> SignFlip:
    """Test that the mean exceeds `margin`, flipping the sign of whole consultations.

    Under the null a consultation's sum less its share of the margin is as likely to have either
    sign. With up to `EXACT_CLUSTERS` consultations every pattern is tried; otherwise `patterns` are
    drawn, and the observed one is counted in.
    """
    shifted = data.sums - margin * data.sizes
    observed = float(shifted.sum()) - 1e-9 * max(1.0, float(np.abs(shifted).sum()))
    g = data.clusters
    if g <= EXACT_CLUSTERS:
        signs = 1 - 2 * ((np.arange(1 << g)[:, None] >> np.arange(g)) & 1)
        return SignFlip(float((signs @ shifted >= observed).mean()), 1 << g, exact=True)
    reached, block = 0, max(1, _CELLS // g)
    for start in range(0, patterns, block):
        size = (min(block, patterns - start), g)
        signs = 1 - 2 * rng.integers(0, 2, size=size, dtype=np.int64)
        reached += int((signs @ shifted >= observed).sum())
    return SignFlip((reached + 1) / (patterns + 1), patterns, exact=False)
