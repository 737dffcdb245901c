"""Data sets in which nothing changed, in every shape that a gate rule may meet.

Each function draws many data sets of a number of consultations; their true mean is exactly zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from heldout.experiments.analysis.cluster_models import Assumed
from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.table import FloatArray, ScoreTable

GIANT = 40
"""Pairs of the one large consultation."""


@dataclass(frozen=True)
class Pool:
    """Consultation sums of many comparisons over the same consultations.

    `sums` has shape (comparisons, consultations), `sizes` (consultations,).
    """

    sums: FloatArray
    sizes: FloatArray

    @classmethod
    def of(cls, tables: Sequence[ScoreTable]) -> Pool:
        """Every pair of tables compared on omissions."""
        found = [difference(a, b).sums for a, b in combinations(tables, 2)]
        return cls(np.array([data.sums for data in found]), found[0].sizes)


def flipped(pool: Pool, consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
    """Resampled consultations of one comparison each, signs drawn at random."""
    which = rng.integers(0, len(pool.sums), size=(draws, 1))
    drawn = rng.integers(0, pool.sizes.size, size=(draws, consultations))
    signs = 1.0 - 2.0 * rng.integers(0, 2, size=drawn.shape)
    return ClusterSums(pool.sums[which, drawn] * signs, pool.sizes[drawn])


def exchanged(
    replicates: Sequence[ScoreTable], consultations: int, draws: int, rng: np.random.Generator
) -> ClusterSums:
    """Two runs of one prompt: in each consultation two different replicates in random order.

    Replicates of one note are exchangeable and consultations independent, so the mean is exactly
    zero whatever the prompt does. Consultations are drawn without replacement from those judged.
    """
    against = [difference(table, replicates[0]).sums for table in replicates]
    sums, sizes = np.array([data.sums for data in against]), against[0].sizes
    if consultations > sizes.size:
        raise ValueError(f"{consultations} consultations wanted, {sizes.size} were judged")
    drawn = rng.permuted(np.tile(np.arange(sizes.size), (draws, 1)), axis=1)[:, :consultations]
    first = rng.integers(0, len(sums), size=drawn.shape)
    second = (first + rng.integers(1, len(sums), size=drawn.shape)) % len(sums)
    return ClusterSums(sums[first, drawn] - sums[second, drawn], sizes[drawn])


def few_ties(consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
    """15% of pairs tie, the others gain or lose a half or a whole; correlation 0.1."""
    sizes = rng.integers(1, 5, size=(draws, consultations))
    return Assumed(discordant=0.85).draw(sizes, 0.0, rng)


def left_skewed(consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
    """Skewness -1.41 a consultation: 2 minus a gamma variable of shape 2, scaled.

    A consultation with 1 to 4 pairs moves as a whole, the hardest case for a cluster method.
    """
    sizes = _sizes(consultations, draws, rng)
    return ClusterSums(0.1 * (2.0 - rng.gamma(2.0, 1.0, sizes.shape)) * sizes, sizes)


def exactly(
    differing: int, consultations: int, draws: int, rng: np.random.Generator
) -> ClusterSums:
    """One pair in each of `differing` consultations turns from loss to win or back."""
    sizes = _sizes(consultations, draws, rng)
    sums = np.zeros_like(sizes)
    sums[:, :differing] = 1.0 - 2.0 * rng.integers(0, 2, size=(draws, differing))
    return ClusterSums(sums, sizes)


def one_giant(consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
    """One consultation of `GIANT` pairs among others of 1 to 4; each moves as a whole."""
    sizes = _sizes(consultations, draws, rng)
    sizes[:, 0] = GIANT
    return ClusterSums(0.1 * rng.normal(size=sizes.shape) * sizes, sizes)


def lognormal(consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
    """Numbers of pairs from a lognormal law (median 2, sigma 1); each moves as a whole."""
    drawn = np.rint(rng.lognormal(np.log(2.0), 1.0, size=(draws, consultations)))
    sizes = np.maximum(1.0, drawn)
    return ClusterSums(0.1 * rng.normal(size=sizes.shape) * sizes, sizes)


def _sizes(consultations: int, draws: int, rng: np.random.Generator) -> FloatArray:
    return rng.integers(1, 5, size=(draws, consultations)).astype(np.float64)
