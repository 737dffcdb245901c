"""What the gate says: the decision with its figures, in values and in sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from heldout.gepa.gate.reasons import SIDE, outranks, reason_words, side_words
from heldout.gepa.gate.rules import UNTESTED, RuleVerdict
from heldout.gepa.gate.settings import Goal, PreGateName
from heldout.gepa.gate.usable import Usable
from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.agreement.replicates import Spread
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.intervals.run_to_run import FEWEST_RUNS
from heldout.gepa.statistics.tests.sides import SideState, SideVerdict


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

    `interval`: of the difference, with the spread between runs in it, and `p` the one-sided p that
    belongs to it; None below three replicates.
    """

    winner: Spread
    baseline: Spread
    interval: Annotated[Interval | None, Unwritten] = None
    p: Annotated[float | None, Unwritten] = None


@dataclass(frozen=True, kw_only=True)
class Consultations:
    """Consultations compared, and how many a difference needs for 80% power.

    `effective`: (sum of sizes) squared over the sum of squared sizes, which is lower where some are
    much larger than others. `differing`: those in which the two blocks differ; `least_differing`:
    how many it takes before any sign test can reach the level. `needed_at_low` and `needed_at_high`
    are for a true difference at either end of the interval: both are given or none, since the
    observed difference alone promises too much. None: not recorded.
    """

    have: int
    effective: Annotated[float | None, Unwritten] = None
    differing: Annotated[int | None, Unwritten] = None
    least_differing: Annotated[int | None, Unwritten] = None
    needed_for_observed: Annotated[int | None, Unwritten] = None
    """Of earlier versions, which gave the observed difference alone."""
    needed_at_low: Annotated[int | None, Unwritten] = None
    needed_at_high: Annotated[int | None, Unwritten] = None
    needed_for_hoped: int | None
    hoped_gain: float


@dataclass(frozen=True, kw_only=True)
class FamilyMember:
    """One target of a declared family: its difference, its p as it is and adjusted by Holm.

    `shown`: what the rule says once the family is adjusted for. Figures are None for a member that
    held-out was not looked at for, `p` and `adjusted` for one that has no p.
    """

    name: str
    difference: Interval | None
    p: float | None
    adjusted: float | None
    shown: bool

    def __str__(self) -> str:
        verdict = "shown" if self.shown else "not shown"
        if self.p is None or self.adjusted is None:
            return f"{self.name}: {verdict}, no p to adjust"
        return f"{self.name}: {verdict}, p {self.p:.4f}, adjusted {self.adjusted:.4f}"


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
    sentence: Annotated[str | None, Unwritten] = None
    """The decision with its reason, in one line: every page and command prints this one."""
    usable: Annotated[Usable | None, Unwritten] = None
    """Whether the winner can be used as a flag; not recorded by older versions."""
    goal: Annotated[Goal | None, Unwritten] = None
    margin: Annotated[float | None, Unwritten] = None
    alpha: Annotated[float | None, Unwritten] = None
    planned_looks: Annotated[int | None, Unwritten] = None
    finding: Annotated[Finding | None, Unwritten] = None
    difference: Interval | None = None
    jointly_answered: Annotated[Interval | None, Unwritten] = None
    winner_minus_baseline: Annotated[float | None, Unwritten] = None
    consultation_weighted: Annotated[float | None, Unwritten] = None
    """The difference with each consultation weighted alike, not each pair."""
    largest_gain_not_excluded: Annotated[float | None, Unwritten] = None
    verdicts: Annotated[tuple[RuleVerdict, ...], Unwritten] = ()
    """What every rule would have said."""
    sides: Annotated[tuple[SideVerdict, ...], Unwritten] = ()
    above_chance: Annotated[Interval | None, Unwritten] = None
    """The winner's primary paired figure minus 0.5, or its flags minus those on clean twins."""
    run_to_run: Annotated[RunToRun | None, Unwritten] = None
    consultations: Annotated[Consultations | None, Unwritten] = None
    family: Annotated[tuple[FamilyMember, ...], Unwritten] = ()
    """The declared family that it was decided in, this target included."""
    sentences: Annotated[tuple[str, ...], Unwritten] = ()
    """The figures behind it for a person, a line each."""

    @property
    def verdict(self) -> RuleVerdict:
        """What the chosen rule says. Raises StopIteration without a look at held-out."""
        return next(v for v in self.verdicts if v.rule == self.rule)

    @property
    def looked(self) -> bool:
        """True where there are figures of held-out to decide on."""
        return bool(self.verdicts)

    @property
    def ships(self) -> bool:
        """True where the chosen rule is satisfied, whatever else refuses."""
        return self.looked and self.verdict.ships

    @property
    def disagreeing(self) -> tuple[RuleName, ...]:
        """Tested rules that say the opposite of the chosen one."""
        return tuple(
            v.rule for v in self.verdicts if v.rule not in UNTESTED and v.ships != self.ships
        )

    @property
    def p(self) -> float | None:
        """What a family adjusts: the rule's p, or that with run-to-run noise where it is larger."""
        noise = None if self.run_to_run is None else self.run_to_run.p
        if self.verdict.p is None or noise is None:
            return self.verdict.p
        return max(self.verdict.p, noise)

    def refused(self, reason: str) -> Decision:
        """The same figures with a refusal, unless there is a weightier one already.

        What a look cannot show, because it was beyond the plan or has too few consultations, say,
        the finding does not say either.
        """
        found = self if reason not in SHOWS_NOTHING else replace(self, finding=_unseen(self))
        if self.reason is None or outranks(reason, self.reason):
            found = replace(found, decision="refused", reason=reason)
        return found.told()

    def told(self) -> Decision:
        """The same decision with its sentences, which follow from everything else in it."""
        return replace(self, sentence=_sentence(self), sentences=_sentences(self))


SHOWS_NOTHING = ("exploratory", "drift", "gate:too_few", "gate:noise", "gate:family")
"""Reasons that leave nothing of what the rule alone would have shown."""


def _unseen(decision: Decision) -> Finding | None:
    found = decision.finding
    claims = (Finding.BETTER, Finding.NOT_WORSE, Finding.EQUIVALENT, Finding.WORSE)
    return Finding.COULD_NOT_BE_SEEN if found in claims else found


EMITTED = {
    Finding.BETTER: "emitted: shown to be better on held-out data",
    Finding.NOT_WORSE: "emitted: shown on held-out data to be no worse than the margin allows",
    Finding.EQUIVALENT: "emitted: shown on held-out data to be equal within the margin",
}


def _sentence(decision: Decision) -> str:
    if decision.reason is None:
        finding = decision.finding
        unshown = f"emitted: the rule «{decision.rule}» ships it, which shows nothing"
        return unshown if finding is None else EMITTED.get(finding, unshown)
    words = reason_words(decision.reason)
    measure = decision.reason.removeprefix(SIDE)
    state = next((side.state for side in decision.sides if side.measure == measure), None)
    if decision.reason.startswith(SIDE) and state is not SideState.HARM:
        words = side_words(measure, cleared=True)
    return f"{decision.decision.replace('_', ' ')}: {words}"


def _sentences(decision: Decision) -> tuple[str, ...]:
    usable = [] if decision.usable is None else [decision.usable.sentence]
    if decision.consultations is None:
        return tuple(usable)
    counted = decision.consultations
    return (
        *_too_few_sentences(decision, counted),
        *_primary_sentences(decision, counted),
        *first_caveats(decision),
        *_run_to_run_sentences(decision.run_to_run),
        *(f"family: {member}" for member in decision.family),
        *usable,
        *(side.sentence for side in decision.sides),
    )


def first_caveats(decision: Decision) -> tuple[str, ...]:
    """What stands against a decision before anything else does."""
    lines = []
    chance = decision.above_chance
    if chance is not None and chance.low <= 0:
        lines.append(
            "the winner is not distinguishable from chance on held-out: above it by "
            f"{chance.estimate:+.3f} [{chance.low:+.3f}, {chance.high:+.3f}]"
        )
    if others := decision.disagreeing:
        own, theirs = ("ships", "would not") if decision.verdict.ships else ("does not", "would")
        lines.append(
            f"the rules disagree: {decision.rule} {own}, {' and '.join(others)} {theirs}; the rule "
            "that was chosen before the run decides"
        )
    return tuple(lines)


def _primary_sentences(decision: Decision, counted: Consultations) -> list[str]:
    """The primary difference for a person: its figure, its meaning, and what it would take."""
    difference, finding = decision.difference, decision.finding
    if difference is None or finding is None:
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
    }[finding]
    if decision.reason in SHOWS_NOTHING and finding is Finding.COULD_NOT_BE_SEEN:
        meaning = f"nothing is shown, as {reason_words(decision.reason)}"
    lines = [
        f"primary difference {figure} over {counted.have} consultations: {meaning}",
        f"largest gain not excluded: {difference.high:+.3f}",
        *_weighting(decision, difference),
        *_needs(counted, difference),
    ]
    plain = decision.winner_minus_baseline
    if plain is not None and abs(plain - difference.estimate) > 5e-10:
        lines.append(
            f"the difference is not winner minus baseline ({plain:+.3f}): pairs that one of them "
            "did not answer count as a loss for the winner and a half for the baseline"
        )
    return lines


def _too_few_sentences(decision: Decision, counted: Consultations) -> list[str]:
    if decision.reason != "gate:too_few":
        return []
    return [
        f"{counted.effective or 0:.1f} effective consultations of {counted.have}, "
        f"{counted.differing} of which differ; it takes {counted.least_differing} that differ"
    ]


def _run_to_run_sentences(found: RunToRun | None) -> list[str]:
    if found is None:
        return []
    if found.interval is None:
        few = len(found.winner.values) < FEWEST_RUNS
        takes = f": that takes confirm.replicates: {FEWEST_RUNS}" if few else " of this measure"
        return [f"run-to-run noise is not in the interval{takes}"]
    low, high = found.interval.low, found.interval.high
    return [f"with run-to-run noise the difference lies in [{low:+.3f}, {high:+.3f}]"]


def _weighting(decision: Decision, difference: Interval) -> list[str]:
    alike = decision.consultation_weighted
    if alike is None:
        return []
    return [f"each consultation weighted alike {alike:+.3f}, each pair {difference.estimate:+.3f}"]


def _needs(counted: Consultations, difference: Interval) -> list[str]:
    """What 80% power takes: at both ends of the interval or at none, and for the hoped gain."""
    lines = []
    if counted.needed_at_low is not None and counted.needed_at_high is not None:
        lines.append(
            f"80% power takes {counted.needed_at_high} consultations if the true difference is the "
            f"upper end ({difference.high:+.3f}), {counted.needed_at_low} if it is the lower "
            f"({difference.low:+.3f})"
        )
    if counted.needed_for_hoped is not None:
        lines.append(
            f"a difference of the hoped size ({counted.hoped_gain:+.3f}) needs "
            f"{counted.needed_for_hoped} consultations for 80% power"
        )
    return lines
