"""Simulated judges that judge the same notes twice, unmoved or moved in between."""

from __future__ import annotations

from math import sqrt

import numpy as np

from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.table import FloatArray
from heldout.gepa.statistics.tests.drift import SCORE_LEVEL
from heldout.gepa.statistics.tests.studentised import flipped_statistics, sign_patterns, upper_p

PER_CONSULTATION = 5
BLOCK = 200
"""Data sets that share one matrix of signs."""


def called_moved(change: FloatArray, patterns: int = 1_000) -> float:
    """Share of data sets, rows of `change` (sets, notes), whose scores are called moved."""
    rng = generator(5, "moving judges")
    cluster = np.arange(change.shape[1]) // PER_CONSULTATION
    member = np.eye(cluster.max() + 1)[cluster]
    sizes = member.sum(axis=0)
    found = []
    for start in range(0, len(change), BLOCK):
        sums = change[start : start + BLOCK] @ member
        data = ClusterSums(sums, np.broadcast_to(sizes, sums.shape))
        statistics = flipped_statistics(data, sign_patterns(sizes.size, rng, patterns))
        p = 2 * np.minimum(upper_p(statistics), upper_p(-statistics))
        found.append(p <= SCORE_LEVEL)
    return float(np.concatenate(found).mean())


def scored(
    rng: np.random.Generator, sets: int, notes: int, *, sd: float, shift: float
) -> FloatArray:
    """Change between two judgings from 0 to 10 with call noise `sd`, the later one shifted."""
    first, second = (rng.normal(0, sd, (sets, notes)) for _ in range(2))
    return second + shift - first


def yes_no(
    rng: np.random.Generator, sets: int, notes: int, *, shift: float, disagreement: float = 0.068
) -> FloatArray:
    """Change between two judgings by yes or no that agree in 93.2% of notes.

    The later one says yes in `shift` more of the notes.
    """
    truth = rng.uniform(size=(sets, notes)) < 0.3
    noise = (1 - sqrt(1 - 2 * disagreement)) / 2
    first, second = (truth ^ (rng.uniform(size=truth.shape) < noise) for _ in range(2))
    more = ~second & (rng.uniform(size=truth.shape) < shift / (1 - second.mean()))
    return np.asarray((second | more).astype(np.float64) - first)
