"""What the gate says: the decision with its figures, in values and in sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from heldout.gepa.gate.reasons import reason_words
from heldout.gepa.gate.rules import UNTESTED, RuleVerdict
from heldout.gepa.gate.settings import Goal, PreGateName
from heldout.gepa.gate.usable import Usable
from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.agreement.replicates import Spread
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.tests.sides import SideVerdict


def _without_value(value: object) -> bool:
    return value is None or value == ()


Unwritten = Field(exclude_if=_without_value)
"""Marks a field that is written only where it has a value."""


class Finding(StrEnum):
    """What the held-out data say of the primary difference under the rule of the gate."""

    BETTER = "better"
    NOT_WORSE = "not_worse"
    EQUIVALENT = "equivalent"
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
    """How far the primary figure of each block moved between replicates.

    `interval`: of the difference, with the spread between runs in it; None below three replicates.
    """

    winner: Spread
    baseline: Spread
    interval: Annotated[Interval | None, Unwritten] = None


@dataclass(frozen=True, kw_only=True)
class Consultations:
    """Consultations compared, and how many a difference needs for 80% power.

    `effective`: (sum of sizes) squared over the sum of squared sizes, which is lower where some are
    much larger than others. `differing`: those in which the two blocks differ; `least_differing`:
    how many it takes before any sign test can reach the level. None: not recorded.
    """

    have: int
    effective: Annotated[float | None, Unwritten] = None
    differing: Annotated[int | None, Unwritten] = None
    least_differing: Annotated[int | None, Unwritten] = None
    needed_for_observed: int | None
    needed_for_hoped: int | None
    hoped_gain: float


@dataclass(frozen=True, kw_only=True)
class FamilyMember:
    """One target of a declared family: its p and Holm's adjusted p, None for a rule without p."""

    name: str
    p: float | None
    adjusted: float | None
    shown: bool


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the gate says and why; without a look at held-out there are no figures.

    `reason` is None when emitted; docs/concepts.md lists the others. `difference` is the chosen
    rule's interval of the primary difference at level 1 - 2 alpha / looks, the cluster-robust t
    interval for a rule that has none, its upper end the largest gain that is not excluded;
    `jointly_answered` is the same over pairs that both blocks answered.
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
    goal: Annotated[Goal | None, Unwritten] = None
    usable: Annotated[Usable | None, Unwritten] = None
    """Whether the winner can be used as a flag."""
    family: Annotated[tuple[FamilyMember, ...], Unwritten] = ()
    """The declared family that it was decided in, this target included."""
    sentences: Annotated[tuple[str, ...], Unwritten] = ()
    """The decision for a person, a line each."""

    @property
    def verdict(self) -> RuleVerdict:
        """What the chosen rule says. Raises StopIteration without a look at held-out."""
        return next(v for v in self.verdicts if v.rule == self.rule)

    def refused(self, reason: str) -> Decision:
        """The same figures with a refusal for a reason that lies outside them, such as `drift`."""
        because = f"refused: {reason_words(reason)}"
        return replace(
            self, decision="refused", reason=reason, sentences=(because, *self.sentences)
        )

    @property
    def disagreeing(self) -> tuple[str, ...]:
        """Tested rules that say the opposite of the chosen one."""
        if not self.verdicts:
            return ()
        ships = self.verdict.ships
        return tuple(v.rule for v in self.verdicts if v.rule not in UNTESTED and v.ships != ships)


def decision_sentences(decision: Decision) -> tuple[str, ...]:
    """A decision with a look at held-out for a person, a line each."""
    counted, interval = decision.consultations, decision.difference
    assert counted is not None  # decided on held-out data
    lines = [] if decision.reason is None else [f"refused: {reason_words(decision.reason)}"]
    if decision.reason == "gate:too_few":
        lines.append(
            f"{counted.effective or 0:.1f} effective consultations of {counted.have}, "
            f"{counted.differing} of which differ; it takes {counted.least_differing} that differ"
        )
    lines += _primary_sentences(decision, interval, counted)
    if others := decision.disagreeing:
        says = "ships" if decision.verdict.ships else "does not ship"
        lines.append(
            f"the rules disagree: {decision.rule} {says}, {', '.join(others)} would not; "
            f"{decision.rule} was chosen before the run and decides"
            if decision.verdict.ships
            else f"the rules disagree: {decision.rule} {says}, {', '.join(others)} would; "
            f"{decision.rule} was chosen before the run and decides"
        )
    lines += _run_to_run_sentences(decision.run_to_run)
    return (*lines, *(side.sentence for side in decision.sides))


def _run_to_run_sentences(found: RunToRun | None) -> list[str]:
    if found is None:
        return []
    if found.interval is None:
        return ["run-to-run noise is not in the interval: that takes confirm.replicates: 3"]
    low, high = found.interval.low, found.interval.high
    return [f"with run-to-run noise the difference lies in [{low:+.3f}, {high:+.3f}]"]


def _primary_sentences(
    decision: Decision, difference: Interval | None, counted: Consultations
) -> list[str]:
    """The primary difference: its figure, its meaning, and what it would take."""
    if difference is None or decision.finding is None:
        return ["no pair of the primary measure was judged: nothing could be seen"]
    hoped = counted.hoped_gain
    figure = f"{difference.estimate:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"
    meaning = {
        Finding.BETTER: "shown to be better",
        Finding.NOT_WORSE: "shown to be no worse than the margin allows",
        Finding.EQUIVALENT: "shown to be equal within the margin",
        Finding.WORSE: "shown to be worse",
        Finding.NO_BETTER: f"no better: a gain of {hoped:.3f} is excluded",
        Finding.COULD_NOT_BE_SEEN: f"a gain of {hoped:.3f} could not have been excluded or shown",
    }[decision.finding]
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
    plain = decision.winner_minus_baseline
    if plain is not None and abs(plain - difference.estimate) > 5e-10:
        lines.append(
            f"the difference is not winner minus baseline ({plain:+.3f}): pairs that one of them "
            "did not answer count as a loss for the winner and a half for the baseline"
        )
    return lines
