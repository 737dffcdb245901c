"""Matched couples: the same fact removed at two trace levels, flagged or not.

The contrast is within the fact, so how hard a fact is to miss cancels out. Couples are tested by
McNemar's exact test, contrasts declared together by Holm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.tests.exact import HolmResult, SignTest, exact_sign, holm
from heldout.splits.benchmark import TraceLevel

Contrast = tuple[TraceLevel, TraceLevel]


@dataclass(frozen=True, slots=True)
class Couple:
    """Two errored notes with the same fact removed, at the level named first and second."""

    contrast: Contrast
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class CoupleContrast:
    """Flag rates at two trace levels over matched couples.

    `test.wins` are couples flagged at the first level only, `test.losses` at the second only;
    `adjusted` is Holm's over the declared family.
    """

    contrast: Contrast
    first: Count
    second: Count
    test: SignTest
    adjusted: HolmResult


def couple_contrasts(
    couples: Sequence[Couple], flags: Mapping[str, bool], *, alpha: float = 0.05
) -> tuple[CoupleContrast, ...]:
    """One contrast for every pair of levels that occurs; `flags` is note id to flag."""
    groups: dict[Contrast, list[Couple]] = {}
    for couple in couples:
        groups.setdefault(couple.contrast, []).append(couple)
    tests = {contrast: _mcnemar(members, flags) for contrast, members in groups.items()}
    adjusted = holm({"|".join(c): test.p for c, test in tests.items()}, alpha=alpha)
    return tuple(
        CoupleContrast(
            contrast,
            Count(sum(flags[c.first] for c in members), len(members)),
            Count(sum(flags[c.second] for c in members), len(members)),
            tests[contrast],
            adjusted["|".join(contrast)],
        )
        for contrast, members in groups.items()
    )


def _mcnemar(couples: Sequence[Couple], flags: Mapping[str, bool]) -> SignTest:
    first_only = sum(flags[c.first] and not flags[c.second] for c in couples)
    second_only = sum(flags[c.second] and not flags[c.first] for c in couples)
    return exact_sign(first_only, second_only)
