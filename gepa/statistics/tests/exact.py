"""Exact tests on counts: sign, McNemar; the pooled z the study printed; Holm over several tests.

The row form counts pairs as if they were independent, which pairs of one consultation are not; the
consultation-collapsed form gives each consultation one sign. Both stand side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy

from heldout.gepa.statistics.difference import Difference
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.table import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class SignTest:
    """Wins against losses, ties left out; `p` is exact and two-sided, 1 without any."""

    wins: int
    losses: int
    p: float


@dataclass(frozen=True, slots=True)
class SignTests(SignTest):
    """The row form, and beside it the form with one sign a consultation."""

    by_consultation: SignTest


@dataclass(frozen=True, slots=True)
class McNemarTest:
    """Notes that one side alone flags; `p` is exact and two-sided, 1 without any."""

    candidate_only: int
    baseline_only: int
    p: float


@dataclass(frozen=True, slots=True)
class McNemarTests(McNemarTest):
    """The row form, and beside it the form with one vote a consultation."""

    by_consultation: McNemarTest


def exact_sign(wins: int, losses: int) -> SignTest:
    """The exact two-sided sign test; McNemar's exact test on discordant counts is the same sum."""
    if wins + losses == 0:
        return SignTest(0, 0, 1.0)
    p = scipy.stats.binomtest(wins, wins + losses, 0.5).pvalue
    return SignTest(wins, losses, float(p))


def sign_tests(data: Difference) -> SignTests:
    """Sign test on the sign of each value, and on the sign of each consultation's sum."""
    rows = _of_signs(data.signs)
    return SignTests(rows.wins, rows.losses, rows.p, _of_signs(_collapsed(data)))


def mcnemar_tests(candidate: BoolArray, baseline: BoolArray, cluster: IntArray) -> McNemarTests:
    """McNemar's exact test on two sets of flags over the same notes, shape (notes,).

    Collapsed, a consultation counts for the side that flags more of its notes alone.
    """
    signs = candidate.astype(np.int64) - baseline.astype(np.int64)
    totals = np.rint(np.bincount(cluster, weights=signs)) if signs.size else signs
    rows, groups = _of_signs(signs), _of_signs(np.sign(totals).astype(np.int64))
    collapsed = McNemarTest(groups.wins, groups.losses, groups.p)
    return McNemarTests(rows.wins, rows.losses, rows.p, collapsed)


def two_proportion_z(first: Count, second: Count) -> float | None:
    """Pooled two-proportion z; None where a denominator or the pooled variance is zero."""
    if not first.n or not second.n:
        return None
    pooled = (first.k + second.k) / (first.n + second.n)
    variance = pooled * (1 - pooled) * (1 / first.n + 1 / second.n)
    if variance == 0:
        return None
    return (first.k / first.n - second.k / second.n) / sqrt(variance)


@dataclass(frozen=True, slots=True)
class HolmResult:
    """One member of a family: its p, Holm's adjusted p, and whether it is rejected."""

    p: float
    adjusted: float
    rejected: bool


def holm(p_values: Mapping[str, float], *, alpha: float) -> dict[str, HolmResult]:
    """Holm's step-down adjustment (1979) over a declared family: member to result."""
    # statsmodels takes a second to import, and only families of tests need it.
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415

    if not p_values:
        return {}
    rejected, adjusted, _, _ = multipletests(list(p_values.values()), alpha=alpha, method="holm")
    return {
        name: HolmResult(p, float(a), bool(r))
        for (name, p), a, r in zip(p_values.items(), adjusted, rejected, strict=True)
    }


def _of_signs(signs: IntArray) -> SignTest:
    return exact_sign(int((signs > 0).sum()), int((signs < 0).sum()))


def _collapsed(data: Difference) -> IntArray:
    """Sign of each consultation's sum, from exact integers."""
    if not data.n:
        return data.signs
    credit = data.candidate * data.baseline_scale - data.baseline * data.candidate_scale
    totals = np.zeros(int(data.cluster.max()) + 1, dtype=np.int64)
    np.add.at(totals, data.cluster, credit)
    return np.asarray(np.sign(totals), dtype=np.int64)
