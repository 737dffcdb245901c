"""How much data a difference needs: the closed-form answer beside a decision.

`heldout.experiments.analysis.power` answers the same by simulation, before anything is spent.
"""

from __future__ import annotations

from math import sqrt

import scipy

from heldout.gepa.statistics.difference import Difference
from heldout.gepa.statistics.intervals.interval import t_quantile

MOST_CONSULTATIONS = 1_000_000


def consultations_needed(
    data: Difference,
    effect: float,
    *,
    margin: float = 0.0,
    alpha: float = 0.025,
    power: float = 0.8,
) -> int | None:
    """Consultations with which the interval rule would see a true difference of `effect`.

    From the spread between consultations observed in `data`, by the noncentral t distribution with
    consultations of the same make. None where no number would do (an effect within the margin), the
    spread is not estimable, or a million is not enough. At least 2.
    """
    sums = data.sums if data.n else None
    if sums is None or sums.clusters < 2 or effect <= margin:
        return None
    spread = float(sums.standard_error) * sqrt(sums.clusters)
    if spread == 0:
        return None
    signal = (effect - margin) / spread
    low, high = 2, 4
    while t_power(signal * sqrt(high), high - 1, alpha) < power:
        low, high = high, high * 2
        if high > MOST_CONSULTATIONS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        enough = t_power(signal * sqrt(middle), middle - 1, alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return low if t_power(signal * sqrt(low), low - 1, alpha) >= power else high


def t_power(shift: float, degrees: int, alpha: float) -> float:
    """Chance that a one-sided t test at `alpha` rejects, its statistic shifted by `shift`."""
    critical = t_quantile(1 - alpha, degrees)
    return float(1 - scipy.special.nctdtr(degrees, shift, critical))
