"""Every gate rule on many data sets at once: for calibration and power by simulation.

The rules are those of `rules`, in the same order of operations, with a leading axis of data sets.
Resampling matrices are shared by the data sets of one block and drawn afresh for the next.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.intervals.interval import NO_SPREAD, ClusterSums, t_ends
from heldout.gepa.statistics.intervals.resampling import cluster_weights
from heldout.gepa.statistics.table import BoolArray, FloatArray
from heldout.gepa.statistics.tests.studentised import (
    flipped_statistics,
    sign_patterns,
    upper_p,
)

BLOCK = 200
"""Data sets that share one resampling matrix."""
RESAMPLES = 2_000
"""Resamples a data set: fewer than at a real gate, because many data sets are averaged."""


def ships(
    data: ClusterSums,
    rule: RuleName,
    rng: np.random.Generator,
    *,
    alpha: float,
    margin: float = 0.0,
    resamples: int = RESAMPLES,
) -> BoolArray:
    """Whether `rule` ships each data set of `data` (data sets, clusters), shape (data sets,).

    Raises ValueError for fewer than two clusters.
    """
    if data.clusters < 2:
        raise ValueError("simulation needs at least two consultations")
    decide = SIMULATED[rule]
    parts = [decide(part, rng, alpha, margin, resamples) for part in _blocks(data)]
    return np.concatenate(parts)


def _point(
    data: ClusterSums, rng: np.random.Generator, alpha: float, margin: float, resamples: int
) -> BoolArray:
    del rng, alpha, resamples
    return np.asarray(data.mean > margin, dtype=np.bool_)


def _interval(
    data: ClusterSums, rng: np.random.Generator, alpha: float, margin: float, resamples: int
) -> BoolArray:
    del rng, resamples
    return np.asarray(t_ends(data, level=1 - 2 * alpha)[0] > margin, dtype=np.bool_)


def _where_spread(data: ClusterSums, ships: BoolArray, alpha: float, margin: float) -> BoolArray:
    """`ships` where consultations differ, elsewhere what the exact bound says, as at the gate."""
    exact = t_ends(data, level=1 - 2 * alpha)[0] > margin
    return np.asarray(np.where(data.standard_error > NO_SPREAD, ships, exact), dtype=np.bool_)


def _studentised(
    data: ClusterSums, rng: np.random.Generator, alpha: float, margin: float, patterns: int
) -> BoolArray:
    signs = sign_patterns(data.clusters, rng, patterns)
    p = upper_p(flipped_statistics(data, signs, margin))
    return _where_spread(data, p <= alpha, alpha, margin)


def _bootstrap(
    data: ClusterSums, rng: np.random.Generator, alpha: float, margin: float, resamples: int
) -> BoolArray:
    weights = cluster_weights(data.clusters, resamples, rng).T
    means = (data.sums @ weights) / (data.sizes @ weights)
    low = np.minimum(np.quantile(means, alpha, axis=-1), data.mean)
    return _where_spread(data, low > margin, alpha, margin)


def _permutation(
    data: ClusterSums, rng: np.random.Generator, alpha: float, margin: float, patterns: int
) -> BoolArray:
    shifted = data.sums - margin * data.sizes
    slack = 1e-9 * np.maximum(1.0, np.abs(shifted).sum(axis=-1))
    observed: FloatArray = shifted.sum(axis=-1) - slack
    signs = 1.0 - 2.0 * rng.integers(0, 2, size=(data.clusters, patterns))
    reached = (shifted @ signs >= observed[:, None]).sum(axis=-1)
    return np.asarray((reached + 1) / (patterns + 1) <= alpha, dtype=np.bool_)


def _blocks(data: ClusterSums) -> Iterator[ClusterSums]:
    sizes = np.broadcast_to(data.sizes, data.sums.shape)
    for start in range(0, len(data.sums), BLOCK):
        yield ClusterSums(data.sums[start : start + BLOCK], sizes[start : start + BLOCK])


SIMULATED = {
    "studentised": _studentised,
    "point": _point,
    "interval": _interval,
    "bootstrap": _bootstrap,
    "permutation": _permutation,
}
"""The built-in rules, each as it decides on many data sets at once."""
