"""Rules that were tried as the gate's default and not taken: what each ships when nothing changed.

Corrections of the t statistic for skewness (Johnson 1978, Hall 1992) and of its variance for few
and uneven consultations (residuals weighted by leverage, and the jackknife).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heldout.gepa.statistics.intervals.interval import NO_SPREAD, ClusterSums, t_quantile
from heldout.gepa.statistics.table import BoolArray, FloatArray

Alternative = Callable[[ClusterSums, float], BoolArray]
"""Which data sets (data sets, clusters) ship at one-sided `alpha`, shape (data sets,)."""


def johnson(data: ClusterSums, alpha: float) -> BoolArray:
    """t moved by the first-order effect of the residuals' skewness."""
    t, g = _t(data), data.clusters
    moved = t + _skewness(data) * (1 / (6 * np.sqrt(g)) + t**2 / (3 * np.sqrt(g)))
    return _beyond(moved, data, alpha)


def hall(data: ClusterSums, alpha: float) -> BoolArray:
    """t through the monotone cubic transformation that removes its skewness."""
    g, skew = data.clusters, _skewness(data)
    u = _t(data) / np.sqrt(g)
    moved = u + skew * u**2 / 3 + skew**2 * u**3 / 27 + skew / (6 * g)
    return _beyond(moved * np.sqrt(g), data, alpha)


def leverage(data: ClusterSums, alpha: float) -> BoolArray:
    """Squared residuals divided by one minus the consultation's share of pairs."""
    variance = (_residuals(data) ** 2 / (1 - _shares(data))).sum(axis=-1)
    return _beyond(_ratio(data, variance), data, alpha)


def jackknifed(data: ClusterSums, alpha: float) -> BoolArray:
    """The jackknife variance over consultations."""
    g = data.clusters
    variance = ((_residuals(data) / (1 - _shares(data))) ** 2).sum(axis=-1) * (g - 1) / g
    return _beyond(_ratio(data, variance), data, alpha)


ALTERNATIVES: dict[str, Alternative] = {
    "Johnson": johnson,
    "Hall": hall,
    "leverage": leverage,
    "jackknife": jackknifed,
}


def _shares(data: ClusterSums) -> FloatArray:
    return np.asarray(data.sizes / data.sizes.sum(axis=-1, keepdims=True))


def _residuals(data: ClusterSums) -> FloatArray:
    return np.asarray(data.sums - data.mean[..., None] * data.sizes)


def _skewness(data: ClusterSums) -> FloatArray:
    residual = _residuals(data)
    spread = np.maximum((residual**2).mean(axis=-1), NO_SPREAD**2)
    return np.asarray((residual**3).mean(axis=-1) / spread**1.5)


def _t(data: ClusterSums) -> FloatArray:
    return np.asarray(data.mean / np.maximum(data.standard_error, NO_SPREAD))


def _ratio(data: ClusterSums, variance: FloatArray) -> FloatArray:
    error = np.sqrt(variance) / data.sizes.sum(axis=-1)
    return np.asarray(data.mean / np.maximum(error, NO_SPREAD))


def _beyond(statistic: FloatArray, data: ClusterSums, alpha: float) -> BoolArray:
    return np.asarray(statistic > t_quantile(1 - alpha, data.clusters - 1), dtype=np.bool_)
