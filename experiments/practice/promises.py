"""What a threshold can promise of clean notes, and how many notes that takes.

Two promises about the share of clean notes that are flagged:

- `binomial`: the share is at most the target with the stated confidence, over the draw of the
  calibration notes. If a threshold's true share exceeds `a`, then `k` or fewer flags among `n`
  independent notes have probability at most P(Binomial(n, a) <= k) (Clopper and Pearson 1934).
- `conformal`: averaged over calibrations the share is at most the target; a single calibration may
  exceed it, and about half of them do (Vovk et al. 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log
from typing import Any, Literal

import scipy

from heldout.splits.errors import BadInput, Fault

Method = Literal["binomial", "conformal"]


@dataclass(frozen=True, slots=True)
class Promise:
    """At most `false_alarms` of clean notes flagged, in (0, 1).

    `confidence` in (0, 1) belongs to the binomial bound; the conformal promise has none. Raises
    BadInput for values outside.
    """

    false_alarms: float
    confidence: float = 0.95
    method: Method = "binomial"

    def __post_init__(self) -> None:
        values = {"--false-alarms": self.false_alarms, "--confidence": self.confidence}
        faults = [
            Fault(name, f"{value:g} is not between 0 and 1")
            for name, value in values.items()
            if not 0 < value < 1
        ]
        if faults:
            raise BadInput(faults)

    @property
    def words(self) -> str:
        """The promise as a sentence."""
        share = f"{100 * self.false_alarms:g}% of clean notes"
        if self.method == "conformal":
            return f"on average over calibrations, at most {share} are flagged"
        return f"with {100 * self.confidence:g}% confidence at most {share} are flagged"

    def to_json(self) -> dict[str, Any]:
        """`{false_alarms, confidence, method, words}`; no confidence for the conformal promise."""
        return {
            "false_alarms": self.false_alarms,
            "confidence": None if self.method == "conformal" else self.confidence,
            "method": self.method,
            "words": self.words,
        }


@dataclass(frozen=True, slots=True)
class Need:
    """`consultations` allow `flagged` of their clean notes to be flagged; `expected` is the share
    that the threshold then flags on average, in [0, 1]: with few notes it lies far below the
    target, which costs detection."""

    consultations: int
    flagged: int
    expected: float


def allowed_flags(independent: int, promise: Promise) -> int | None:
    """The most of `independent` clean notes that may lie below a threshold; None: too few notes."""
    if promise.method == "conformal":
        allowed = floor(_exact(promise.false_alarms) * (independent + 1)) - 1
        return allowed if allowed >= 0 else None
    risk = 1 - promise.confidence
    if _at_most(0, independent, promise) > risk:
        return None
    low, high = 0, independent
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if _at_most(middle, independent, promise) <= risk else (low, middle - 1)
        )
    return low


def needed(promise: Promise, flagged: int = 0) -> int:
    """The fewest consultations whose notes allow `flagged` of them below the threshold."""
    if promise.method == "conformal":
        return ceil((flagged + 1) / _exact(promise.false_alarms)) - 1
    if not flagged:
        n = max(1, ceil(log(1 - promise.confidence) / log(1 - promise.false_alarms) - 1e-9))
        return n if _at_most(0, n, promise) <= 1 - promise.confidence + 1e-12 else n + 1
    low, high = flagged + 1, flagged + 2
    while _at_most(flagged, high, promise) > 1 - promise.confidence:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        enough = _at_most(flagged, middle, promise) <= 1 - promise.confidence
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def advice(promise: Promise, flags: tuple[int, ...] = (0, 1, 2, 5, 10, 20)) -> tuple[Need, ...]:
    """How many consultations buy how sensitive a threshold under this promise."""
    sizes = [(needed(promise, k), k) for k in flags]
    return tuple(Need(n, k, (k + 1) / (n + 1)) for n, k in sizes)


def smallest_rate(independent: int, confidence: float) -> float:
    """The lowest target that the binomial bound can promise with so many clean notes; 1 for none.

    With no flag among n notes, shares above 1 - (1 - confidence)**(1 / n) are excluded.
    """
    return 1 - (1 - confidence) ** (1 / independent) if independent else 1.0


def _at_most(flagged: int, independent: int, promise: Promise) -> float:
    """P(Binomial(n, target) <= flagged)."""
    return float(scipy.special.bdtr(flagged, independent, promise.false_alarms))


def _exact(rate: float) -> Fraction:
    """The rate as it was written: 0.05 is one twentieth."""
    return Fraction(repr(float(rate)))
