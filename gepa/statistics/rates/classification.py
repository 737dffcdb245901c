"""Figures of a yes/no judge over two classes, and what constant answers get from them.

The macro average is 0.5 for every constant answer; F1 pays always-yes for the base rate, so it is
never a headline here.
"""

from __future__ import annotations

from dataclasses import dataclass

from heldout.gepa.statistics.rates.counts import Count


@dataclass(frozen=True, slots=True)
class TwoClass:
    """Answers of a judge on positive (errored) and negative (clean) cases."""

    hits: Count
    false_alarms: Count

    @property
    def macro_recall(self) -> float | None:
        """Mean of the two classes' recalls, in [0, 1]; None where a class is empty."""
        detected, flagged = self.hits.rate, self.false_alarms.rate
        return None if detected is None or flagged is None else (detected + 1 - flagged) / 2

    @property
    def precision(self) -> float | None:
        """Hits among all flags; None without a flag."""
        return Count(self.hits.k, self.hits.k + self.false_alarms.k).rate

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None without positives and flags."""
        return Count(2 * self.hits.k, self.hits.k + self.hits.n + self.false_alarms.k).rate
