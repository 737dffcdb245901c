"""The gate: whether the winner of a search may be emitted, decided on held-out data.

Chosen before the run and journalled. Everything here is a pure function of score tables; who may
look at held-out notes, and when, is the vault's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt
from annotated_types import Interval as Within

from heldout.gepa.statistics.detection import DEFAULT_CAP, swept
from heldout.gepa.statistics.difference import Difference, difference
from heldout.gepa.statistics.families import holm
from heldout.gepa.statistics.intervals import Interval
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.planning import consultations_needed
from heldout.gepa.statistics.replicates import Spread, paired_spread
from heldout.gepa.statistics.rules import RuleName, Verdict, all_rules
from heldout.gepa.statistics.selection import Family
from heldout.gepa.statistics.sides import (
    PairedSide,
    SideState,
    SideVerdict,
    side_differences,
    side_verdicts,
)

Primary = Literal["paired_omissions", "paired_commissions"]
PreGateName = Literal["above", "study", "off"]
Margin = Annotated[float, Within(ge=0, le=1)]

STUDY_PRE_GATE = 0.02
"""The study bought the held-out look only for more than two points on both measures."""


@dataclass(frozen=True, kw_only=True)
class SideMargins:
    """How much worse a side measure may be; `omissions` counts where commissions are primary."""

    commissions: Margin = 0.05
    omissions: Margin = 0.05
    false_alarms: Margin = 0.05
    violations: Margin = 0.05
    detection: Margin = 0.05

    def by_measure(self) -> dict[str, float]:
        """Margin by measure name."""
        return {name: float(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class GateSettings:
    """What the gate goes by.

    `alpha` is one-sided and is divided by the planned looks; `margin` is what the primary
    difference must exceed; `cap` is the false-alarm cap of swept figures; `hoped_gain` is the
    difference the experimenter hopes for, used only to say what the data could have seen.
    """

    rule: RuleName = "interval"
    margin: Annotated[float, Within(ge=-1, le=1)] = 0.0
    alpha: Annotated[float, Within(gt=0, lt=0.5)] = 0.025
    side_margins: SideMargins = field(default_factory=SideMargins)
    pre_gate: PreGateName = "above"
    cap: Annotated[float, Within(ge=0, le=1)] = DEFAULT_CAP
    hoped_gain: Annotated[float, Gt(0)] = 0.05


class Finding(StrEnum):
    """What the held-out data say of the primary difference, whatever the rule."""

    BETTER = "better"
    WORSE = "worse"
    NO_BETTER = "no_better"
    COULD_NOT_BE_SEEN = "could_not_be_seen"


@dataclass(frozen=True, slots=True)
class PreGate:
    """Whether the held-out look is bought, from accept data: differences winner minus baseline."""

    name: PreGateName
    buys: bool
    primary: float | None
    swept_detection: float | None

    def to_json(self) -> dict[str, Any]:
        """`{rule, buys, primary, swept_detection}`."""
        return {
            "rule": self.name,
            "buys": self.buys,
            "primary": self.primary,
            "swept_detection": self.swept_detection,
        }


@dataclass(frozen=True)
class Decision:
    """What the gate says and why.

    `reason` is None when emitted, `gate` when the rule did not ship, `side:<measure>` when harm is
    shown. `difference` is the cluster-robust t interval of the primary difference at level
    1 - 2 alpha / looks, its upper end the largest gain that the data do not exclude;
    `jointly_answered` is the same over pairs that both sides answered. `needed_*` are consultations
    for 80% power.
    """

    decision: Literal["emitted", "refused"]
    reason: str | None
    settings: GateSettings
    planned_looks: int
    finding: Finding
    difference: Interval | None
    jointly_answered: Interval | None
    winner_minus_baseline: float | None
    consultations: int
    verdicts: tuple[Verdict, ...]
    sides: tuple[SideVerdict, ...]
    spread_candidate: Spread
    spread_baseline: Spread
    needed_observed: int | None
    needed_hoped: int | None

    @property
    def verdict(self) -> Verdict:
        """What the chosen rule says."""
        return next(v for v in self.verdicts if v.rule == self.settings.rule)

    @property
    def largest_gain_not_excluded(self) -> float | None:
        """Upper end of the interval of the primary difference."""
        return self.difference.high if self.difference else None

    def refused(self, reason: str) -> Decision:
        """The same figures with a refusal for a reason that lies outside them, such as `drift`."""
        return replace(self, decision="refused", reason=reason)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The decision for a person, a line each."""
        return (*_primary_sentences(self), *(side.sentence for side in self.sides))

    def to_json(self) -> dict[str, Any]:
        """Stable keys; intervals as `{estimate, low, high, level, method}`."""
        return {
            "decision": self.decision,
            "reason": self.reason,
            "rule": self.settings.rule,
            "margin": self.settings.margin,
            "alpha": self.settings.alpha,
            "planned_looks": self.planned_looks,
            "finding": self.finding.value,
            "difference": _json(self.difference),
            "jointly_answered": _json(self.jointly_answered),
            "winner_minus_baseline": self.winner_minus_baseline,
            "largest_gain_not_excluded": self.largest_gain_not_excluded,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "sides": [side.to_json() for side in self.sides],
            "run_to_run": {
                "winner": self.spread_candidate.to_json(),
                "baseline": self.spread_baseline.to_json(),
            },
            "consultations": {
                "have": self.consultations,
                "needed_for_observed": self.needed_observed,
                "needed_for_hoped": self.needed_hoped,
                "hoped_gain": self.settings.hoped_gain,
            },
            "sentences": list(self.sentences),
        }


def pre_gate(
    candidate: Judged, baseline: Judged, settings: GateSettings, *, primary: Primary
) -> PreGate:
    """Whether the look is bought, from the accept tables.

    `above`: the primary difference is positive. `study`: it and the difference of swept detection
    both exceed two points. `off`: always.
    """
    gain = difference(candidate.tables, baseline.tables, _family(primary)).estimate
    rates = [swept(j.majority, settings.cap).detection.rate for j in (candidate, baseline)]
    swept_gain = None if None in rates else (rates[0] or 0.0) - (rates[1] or 0.0)
    buys = settings.pre_gate == "off"
    if settings.pre_gate == "above":
        buys = gain is not None and gain > 0
    if settings.pre_gate == "study":
        buys = min(gain or 0.0, swept_gain or 0.0) > STUDY_PRE_GATE
    return PreGate(settings.pre_gate, buys, gain, swept_gain)


def decide(
    candidate: Judged,
    baseline: Judged,
    settings: GateSettings,
    *,
    primary: Primary,
    planned_looks: Annotated[int, Ge(1)] = 1,
    seed: int,
) -> Decision:
    """Decide on held-out tables; every rule is evaluated, the chosen one decides.

    `seed` drives the bootstrap and permutation rules only. Each of `planned_looks` is tested at
    alpha / planned_looks.
    """
    data = difference(candidate.tables, baseline.tables, _family(primary))
    alpha = settings.alpha / planned_looks
    rules = all_rules(seed)
    verdicts = {
        name: rule.verdict(data, alpha=alpha, margin=settings.margin)
        for name, rule in rules.items()
    }
    interval = data.interval(1 - 2 * alpha)
    side: PairedSide = "commissions" if primary == "paired_omissions" else "omissions"
    sides = side_verdicts(
        side_differences(candidate, baseline, paired_side=side),
        settings.side_margins.by_measure(),
        level=1 - 2 * alpha,
    )
    reason = _reason(verdicts[settings.rule], sides)
    spreads = [paired_spread(judge.tables, _family(primary)) for judge in (candidate, baseline)]
    return Decision(
        decision="emitted" if reason is None else "refused",
        reason=reason,
        settings=settings,
        planned_looks=planned_looks,
        finding=_finding(interval, settings),
        difference=interval,
        jointly_answered=data.jointly_answered().interval(1 - 2 * alpha),
        winner_minus_baseline=_minus(spreads[0].mean, spreads[1].mean),
        consultations=data.consultations,
        verdicts=tuple(verdicts.values()),
        sides=sides,
        spread_candidate=spreads[0],
        spread_baseline=spreads[1],
        needed_observed=_needed(data, data.estimate or 0.0, settings, alpha),
        needed_hoped=_needed(data, settings.hoped_gain, settings, alpha),
    )


def decide_family(decisions: Mapping[str, Decision]) -> dict[str, Decision]:
    """Holm within a declared family of targets, each decided with the same settings and looks.

    A member whose p does not survive the adjustment is refused by the gate. The point rule has no
    p and is left as it is; a member whose rule could not be evaluated counts with p = 1.
    """
    tested = {name: d for name, d in decisions.items() if d.settings.rule != "point"}
    if not tested:
        return dict(decisions)
    levels = {d.settings.alpha / d.planned_looks for d in tested.values()}
    if len(levels) != 1:
        raise ValueError(f"a family is tested at one level, not at {sorted(levels)}")
    p_values = {n: 1.0 if d.verdict.p is None else d.verdict.p for n, d in tested.items()}
    results = holm(p_values, alpha=levels.pop())
    return {
        name: d if name not in results or results[name].rejected or d.reason else d.refused("gate")
        for name, d in decisions.items()
    }


def _family(primary: Primary) -> Family:
    return "omission" if primary == "paired_omissions" else "commission"


def _reason(verdict: Verdict, sides: tuple[SideVerdict, ...]) -> str | None:
    if not verdict.ships:
        return "gate"
    harmed = [side.measure for side in sides if side.state is SideState.HARM]
    return f"side:{harmed[0]}" if harmed else None


def _finding(interval: Interval | None, settings: GateSettings) -> Finding:
    if interval is None:
        return Finding.COULD_NOT_BE_SEEN
    if interval.low > settings.margin:
        return Finding.BETTER
    if interval.high < min(0.0, settings.margin):
        return Finding.WORSE
    if interval.high < settings.hoped_gain:
        return Finding.NO_BETTER
    return Finding.COULD_NOT_BE_SEEN


def _needed(data: Difference, effect: float, settings: GateSettings, alpha: float) -> int | None:
    return consultations_needed(data, effect, margin=settings.margin, alpha=alpha)


def _minus(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or theirs is None else ours - theirs


def _json(interval: Interval | None) -> dict[str, object] | None:
    return interval.to_json() if interval else None


def _primary_sentences(decision: Decision) -> list[str]:
    interval, hoped = decision.difference, decision.settings.hoped_gain
    if interval is None:
        return ["no pair of the primary measure was judged: nothing could be seen"]
    figure = f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"
    meaning = {
        Finding.BETTER: "shown to be better",
        Finding.WORSE: "shown to be worse",
        Finding.NO_BETTER: f"no better: a gain of {hoped:.3f} is excluded",
        Finding.COULD_NOT_BE_SEEN: f"a gain of {hoped:.3f} could not have been excluded or shown",
    }[decision.finding]
    lines = [
        f"primary difference {figure} over {decision.consultations} consultations: {meaning}",
        f"largest gain not excluded: {interval.high:+.3f}",
        *_need_sentences(decision),
    ]
    plain = decision.winner_minus_baseline
    if plain is not None and abs(plain - interval.estimate) > 5e-10:
        lines.append(
            f"the difference is not winner minus baseline ({plain:+.3f}): pairs that one side did "
            "not answer count as a loss for the winner and a half for the baseline"
        )
    return lines


def _need_sentences(decision: Decision) -> list[str]:
    estimate = decision.difference.estimate if decision.difference else 0.0
    needs = (
        ("observed", estimate, decision.needed_observed),
        ("hoped", decision.settings.hoped_gain, decision.needed_hoped),
    )
    return [
        f"a difference of the {word} size ({size:+.3f}) needs {count} consultations for 80% power"
        for word, size, count in needs
        if count is not None
    ]
