"""Agreement: Cohen's kappa of two raters, with a bootstrap over consultations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.intervals.resampling import (
    RESAMPLES,
    cluster_weights,
    quantile_interval,
)
from heldout.gepa.statistics.table import FloatArray, IntArray

KappaWeights = Literal["linear"] | None


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with the (weighted) observed and chance agreement it is made of.

    `value` is None where chance agreement is complete (both raters used one category).
    """

    value: float | None
    observed: float
    expected: float
    n: int


def cohen_kappa(confusion: IntArray, *, weights: KappaWeights = None) -> Kappa:
    """Kappa of a square table of counts, rows one rater, columns the other, categories in order.

    Linear weights give a disagreement by d of K - 1 steps the credit 1 - d / (K - 1). Raises
    ValueError for an empty or non-square table.
    """
    counts = np.asarray(confusion, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.sum() <= 0:
        raise ValueError("a confusion table must be square and hold at least one case")
    observed, expected = _agreements(counts, weights)
    value = None if expected >= 1 else float((observed - expected) / (1 - expected))
    return Kappa(value, float(observed), float(expected), int(counts.sum()))


def kappa_interval(
    confusions: Sequence[IntArray],
    rng: np.random.Generator,
    *,
    weights: KappaWeights = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval of kappa; `confusions` holds one table a consultation.

    Resamples without a kappa are left out; None where the data or every resample has none.
    """
    stacked = np.asarray(confusions, dtype=np.float64)
    point = cohen_kappa(stacked.sum(axis=0), weights=weights).value
    if point is None:
        return None
    drawn = np.tensordot(cluster_weights(len(stacked), resamples, rng), stacked, axes=1)
    drawn = drawn[drawn.sum(axis=(1, 2)) > 0]
    observed, expected = _agreements(drawn, weights)
    kept = expected < 1
    if not kept.any():
        return None
    values = (observed[kept] - expected[kept]) / (1 - expected[kept])
    return quantile_interval(point, values, level=level, clusters=len(stacked))


def _agreements(counts: FloatArray, weights: KappaWeights) -> tuple[FloatArray, FloatArray]:
    """Observed and chance agreement, each of shape (…), of tables of shape (…, K, K)."""
    k = counts.shape[-1]
    credit = np.eye(k)
    if weights == "linear" and k > 1:
        credit = 1 - np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / (k - 1)
    shares = counts / counts.sum(axis=(-2, -1), keepdims=True)
    by_chance = shares.sum(axis=-1)[..., :, None] * shares.sum(axis=-2)[..., None, :]
    return (shares * credit).sum(axis=(-2, -1)), (by_chance * credit).sum(axis=(-2, -1))
