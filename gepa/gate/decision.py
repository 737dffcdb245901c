"""What the gate says: the decision with its figures, in values and in sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from heldout.gepa.gate.rules import RuleVerdict
from heldout.gepa.gate.settings import PreGateName
from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.agreement.replicates import Spread
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.tests.sides import SideVerdict


def _without_value(value: object) -> bool:
    return value is None or value == ()


Unwritten = Field(exclude_if=_without_value)
"""Marks a field that is written only where it has a value."""


class Finding(StrEnum):
    """What the held-out data say of the primary difference, whatever the rule."""

    BETTER = "better"
    WORSE = "worse"
    NO_BETTER = "no_better"
    COULD_NOT_BE_SEEN = "could_not_be_seen"


@dataclass(frozen=True, kw_only=True)
class PreGate:
    """Whether the held-out look is bought, from accept data: differences winner minus baseline."""

    rule: PreGateName
    buys: bool
    primary: float | None
    swept_detection: float | None


@dataclass(frozen=True, kw_only=True)
class RunToRun:
    """How far the primary figure of each block moved between replicates."""

    winner: Spread
    baseline: Spread


@dataclass(frozen=True, kw_only=True)
class Consultations:
    """Consultations compared, and how many a difference needs for 80% power."""

    have: int
    needed_for_observed: int | None
    needed_for_hoped: int | None
    hoped_gain: float


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the gate says and why; without a look at held-out there are no figures.

    `reason` is None when emitted; docs/concepts.md lists the others. `difference` is the
    cluster-robust t interval of the primary difference at level 1 - 2 alpha / looks, its upper end
    the largest gain that the data do not exclude; `jointly_answered` is the same over pairs that
    both blocks answered.
    """

    decision: Literal["emitted", "refused", "not_confirmed"]
    reason: str | None
    rule: RuleName
    margin: Annotated[float | None, Unwritten] = None
    alpha: Annotated[float | None, Unwritten] = None
    planned_looks: Annotated[int | None, Unwritten] = None
    finding: Annotated[Finding | None, Unwritten] = None
    difference: Interval | None = None
    jointly_answered: Annotated[Interval | None, Unwritten] = None
    winner_minus_baseline: Annotated[float | None, Unwritten] = None
    largest_gain_not_excluded: Annotated[float | None, Unwritten] = None
    verdicts: Annotated[tuple[RuleVerdict, ...], Unwritten] = ()
    """What every rule would have said."""
    sides: Annotated[tuple[SideVerdict, ...], Unwritten] = ()
    run_to_run: Annotated[RunToRun | None, Unwritten] = None
    consultations: Annotated[Consultations | None, Unwritten] = None
    sentences: Annotated[tuple[str, ...], Unwritten] = ()
    """The decision for a person, a line each."""

    @property
    def verdict(self) -> RuleVerdict:
        """What the chosen rule says. Raises StopIteration without a look at held-out."""
        return next(v for v in self.verdicts if v.rule == self.rule)

    def refused(self, reason: str) -> Decision:
        """The same figures with a refusal for a reason that lies outside them, such as `drift`."""
        return replace(self, decision="refused", reason=reason)


def primary_sentences(
    difference: Interval | None,
    finding: Finding,
    counted: Consultations,
    winner_minus_baseline: float | None,
) -> list[str]:
    """The primary difference for a person: its figure, its meaning, and what it would take."""
    if difference is None:
        return ["no pair of the primary measure was judged: nothing could be seen"]
    hoped = counted.hoped_gain
    figure = f"{difference.estimate:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"
    meaning = {
        Finding.BETTER: "shown to be better",
        Finding.WORSE: "shown to be worse",
        Finding.NO_BETTER: f"no better: a gain of {hoped:.3f} is excluded",
        Finding.COULD_NOT_BE_SEEN: f"a gain of {hoped:.3f} could not have been excluded or shown",
    }[finding]
    needs = (
        ("observed", difference.estimate, counted.needed_for_observed),
        ("hoped", hoped, counted.needed_for_hoped),
    )
    lines = [
        f"primary difference {figure} over {counted.have} consultations: {meaning}",
        f"largest gain not excluded: {difference.high:+.3f}",
        *(
            f"a difference of the {word} size ({size:+.3f}) needs {count} consultations "
            "for 80% power"
            for word, size, count in needs
            if count is not None
        ),
    ]
    plain = winner_minus_baseline
    if plain is not None and abs(plain - difference.estimate) > 5e-10:
        lines.append(
            f"the difference is not winner minus baseline ({plain:+.3f}): pairs that one of them "
            "did not answer count as a loss for the winner and a half for the baseline"
        )
    return lines
