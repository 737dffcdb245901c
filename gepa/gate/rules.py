"""Gate rules: when does a difference on held-out data count as better?

A rule is a frozen dataclass with one method, a pure function of the difference. All are one-sided
at `alpha` against `margin`; an interval has level 1 - 2 alpha.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import scipy

from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.difference import Difference
from heldout.gepa.statistics.intervals.interval import (
    NO_SPREAD,
    NOTHING_DIFFERS,
    Interval,
    unseen_p,
)
from heldout.gepa.statistics.intervals.resampling import (
    RESAMPLES,
    bootstrap_interval,
    bootstrap_means,
    generator,
    sign_flip,
)
from heldout.gepa.statistics.tests.studentised import StudentisedFlip, sign_patterns

UNTESTED = frozenset({"point"})
"""Rules without a p, which no adjustment for several tests can touch."""


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What one rule says: ship or not, with its interval and one-sided p where it has them."""

    rule: RuleName
    ships: bool
    interval: Interval | None = None
    p: float | None = None


class Rule(Protocol):
    """Decides whether a difference exceeds a margin."""

    def verdict(self, difference: Difference, *, alpha: float, margin: float) -> RuleVerdict:
        """Judge `difference` one-sided at `alpha`; without items no rule ships."""


@dataclass(frozen=True, slots=True)
class StudentisedRule:
    """Ships when the studentised sign-flip test is significant; its interval is the inversion."""

    seed: int
    patterns: int = RESAMPLES

    def verdict(self, difference: Difference, *, alpha: float, margin: float) -> RuleVerdict:
        """See Rule; without spread between consultations it is the exact bound of the interval."""
        plain = IntervalRule().verdict(difference, alpha=alpha, margin=margin)
        if not difference.n or not float(difference.sums.standard_error) > NO_SPREAD:
            return plain
        data = difference.sums
        rng = generator(self.seed, "gate", "studentised")
        test = StudentisedFlip(data, sign_patterns(data.clusters, rng, self.patterns))
        p, found = test.p(margin), test.interval(1 - 2 * alpha)
        # The end is found by halving, which may leave it a hair on the other side of the margin.
        low = max(found.low, margin) if p <= alpha else min(found.low, margin)
        return RuleVerdict("studentised", p <= alpha, replace(found, low=low), p)


@dataclass(frozen=True, slots=True)
class IntervalRule:
    """Ships when the lower end of the cluster-robust t interval exceeds the margin."""

    def verdict(self, difference: Difference, *, alpha: float, margin: float) -> RuleVerdict:
        """See Rule; p is Student's, one-sided."""
        interval = difference.interval(1 - 2 * alpha)
        if interval is None:
            return RuleVerdict("interval", ships=False)
        return RuleVerdict("interval", interval.low > margin, interval, _t_tail(difference, margin))


@dataclass(frozen=True, slots=True)
class BootstrapRule:
    """Ships when the lower end of the percentile interval over consultations exceeds the margin."""

    seed: int
    resamples: int = RESAMPLES

    def verdict(self, difference: Difference, *, alpha: float, margin: float) -> RuleVerdict:
        """See Rule; p is the share of resamples at or below the margin, one counted in."""
        if not difference.n:
            return RuleVerdict("bootstrap", ships=False)
        data = difference.sums
        draws = bootstrap_means(
            data, generator(self.seed, "gate", "bootstrap"), resamples=self.resamples
        )
        interval = bootstrap_interval(data, draws, level=1 - 2 * alpha)
        if not interval.known:
            return RuleVerdict("bootstrap", ships=False, interval=interval)
        p = (int((draws <= margin).sum()) + 1) / (self.resamples + 1)
        if interval.method == NOTHING_DIFFERS:
            p = unseen_p(data, margin)
        return RuleVerdict("bootstrap", interval.low > margin, interval, p)


@dataclass(frozen=True, slots=True)
class PermutationRule:
    """Ships when the consultation sign-flip test is significant."""

    seed: int
    patterns: int = RESAMPLES

    def verdict(self, difference: Difference, *, alpha: float, margin: float) -> RuleVerdict:
        """See Rule; there is no interval."""
        if not difference.n:
            return RuleVerdict("permutation", ships=False)
        rng = generator(self.seed, "gate", "permutation")
        test = sign_flip(difference.sums, rng, margin=margin, patterns=self.patterns)
        return RuleVerdict("permutation", test.p <= alpha, p=test.p)


@dataclass(frozen=True, slots=True)
class PointRule:
    """Ships when the point estimate exceeds the margin: the study's rule, blind to noise."""

    def verdict(self, difference: Difference, *, alpha: float, margin: float) -> RuleVerdict:
        """See Rule; `alpha` plays no part."""
        del alpha
        estimate = difference.estimate
        return RuleVerdict("point", estimate is not None and estimate > margin)


def all_rules(seed: int) -> dict[RuleName, Rule]:
    """Every rule by the name it has in a configuration."""
    return {
        "studentised": StudentisedRule(seed),
        "interval": IntervalRule(),
        "bootstrap": BootstrapRule(seed),
        "permutation": PermutationRule(seed),
        "point": PointRule(),
    }


def _t_tail(difference: Difference, margin: float) -> float | None:
    """One-sided p of the cluster-robust t test; None with a single consultation."""
    data = difference.sums
    if data.clusters < 2:
        return None
    mean, error = float(data.mean), float(data.standard_error)
    if error <= NO_SPREAD:
        return unseen_p(data, margin)
    return float(scipy.special.stdtr(data.clusters - 1, (margin - mean) / error))
