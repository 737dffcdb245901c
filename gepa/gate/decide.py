"""The gate: whether the winner of a search may be emitted, decided on held-out data.

Everything here is a pure function of score tables; who may look at held-out notes, and when, is the
vault's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from annotated_types import Ge

from heldout.gepa.gate.decision import (
    Consultations,
    Decision,
    Finding,
    PreGate,
    RunToRun,
    primary_sentences,
)
from heldout.gepa.gate.rules import UNTESTED, Rule, RuleVerdict, all_rules
from heldout.gepa.gate.settings import (
    STUDY_PRE_GATE,
    GateSettings,
    PreGateName,
    SideMargins,
    primary_pairs,
)
from heldout.gepa.settings import Primary
from heldout.gepa.statistics.agreement.replicates import paired_spread
from heldout.gepa.statistics.difference import Difference, difference
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.rates.detection import swept
from heldout.gepa.statistics.tests.exact import holm
from heldout.gepa.statistics.tests.planning import consultations_needed
from heldout.gepa.statistics.tests.sides import (
    PairedSide,
    SideState,
    SideVerdict,
    side_differences,
    side_verdicts,
)

__all__ = [
    "STUDY_PRE_GATE",
    "Decision",
    "Finding",
    "GateSettings",
    "PreGate",
    "PreGateName",
    "Primary",
    "SideMargins",
    "decide",
    "decide_family",
    "pre_gate",
]


def pre_gate(
    candidate: Judged, baseline: Judged, settings: GateSettings, *, primary: Primary
) -> PreGate:
    """Whether the look is bought, from the accept tables.

    `above`: the primary difference is positive. `study`: it and the difference of swept detection
    both exceed two points. `off`: always.
    """
    gain = difference(candidate.tables, baseline.tables, primary_pairs(primary)).estimate
    rates = [swept(j.majority, settings.cap).detection.rate for j in (candidate, baseline)]
    swept_gain = None if None in rates else (rates[0] or 0.0) - (rates[1] or 0.0)
    buys = settings.pre_gate == "off"
    if settings.pre_gate == "above":
        buys = gain is not None and gain > 0
    if settings.pre_gate == "study":
        buys = min(gain or 0.0, swept_gain or 0.0) > STUDY_PRE_GATE
    return PreGate(rule=settings.pre_gate, buys=buys, primary=gain, swept_detection=swept_gain)


def decide(
    candidate: Judged,
    baseline: Judged,
    settings: GateSettings,
    *,
    primary: Primary,
    planned_looks: Annotated[int, Ge(1)] = 1,
    seed: int,
    rule: Rule | None = None,
) -> Decision:
    """Decide on held-out tables; every rule is evaluated, the chosen one decides.

    `seed` drives the bootstrap and permutation rules only. `rule` is the one that `settings.rule`
    names where it is not built in. Each of `planned_looks` is tested at
    alpha / planned_looks.
    """
    data = difference(candidate.tables, baseline.tables, primary_pairs(primary))
    alpha = settings.alpha / planned_looks
    rules = all_rules(seed) if rule is None else {**all_rules(seed), settings.rule: rule}
    verdicts = {
        name: replace(judge.verdict(data, alpha=alpha, margin=settings.margin), rule=name)
        for name, judge in rules.items()
    }
    interval = data.interval(1 - 2 * alpha)
    side: PairedSide = "commissions" if primary == "paired_omissions" else "omissions"
    sides = side_verdicts(
        side_differences(candidate, baseline, paired_side=side),
        settings.side_margins.by_measure(),
        level=1 - 2 * alpha,
    )
    reason = _reason(verdicts[settings.rule], sides)
    spreads = [
        paired_spread(judge.tables, primary_pairs(primary)) for judge in (candidate, baseline)
    ]
    counted = Consultations(
        have=data.consultations,
        needed_for_observed=_needed(data, data.estimate or 0.0, settings, alpha),
        needed_for_hoped=_needed(data, settings.hoped_gain, settings, alpha),
        hoped_gain=settings.hoped_gain,
    )
    finding, plain = _finding(interval, settings), _minus(spreads[0].mean, spreads[1].mean)
    told = primary_sentences(interval, finding, counted, plain)
    return Decision(
        decision="emitted" if reason is None else "refused",
        reason=reason,
        rule=settings.rule,
        margin=settings.margin,
        alpha=settings.alpha,
        planned_looks=planned_looks,
        finding=finding,
        difference=interval,
        jointly_answered=data.jointly_answered().interval(1 - 2 * alpha),
        winner_minus_baseline=plain,
        largest_gain_not_excluded=None if interval is None else interval.high,
        verdicts=tuple(verdicts.values()),
        sides=sides,
        run_to_run=RunToRun(winner=spreads[0], baseline=spreads[1]),
        consultations=counted,
        sentences=(*told, *(side.sentence for side in sides)),
    )


def decide_family(decisions: Mapping[str, Decision]) -> dict[str, Decision]:
    """Holm within a declared family of targets, each decided with the same settings and looks.

    A member whose p does not survive the adjustment is refused by the gate. The point rule has no
    p and is left as it is; a member whose rule could not be evaluated counts with p = 1.
    """
    tested = {name: d for name, d in decisions.items() if d.rule not in UNTESTED}
    if not tested:
        return dict(decisions)
    levels = {(d.alpha or 0.0) / (d.planned_looks or 1) for d in tested.values()}
    if len(levels) != 1:
        raise ValueError(f"a family is tested at one level, not at {sorted(levels)}")
    p_values = {n: 1.0 if d.verdict.p is None else d.verdict.p for n, d in tested.items()}
    results = holm(p_values, alpha=levels.pop())
    return {
        name: d if name not in results or results[name].rejected or d.reason else d.refused("gate")
        for name, d in decisions.items()
    }


def _reason(verdict: RuleVerdict, sides: tuple[SideVerdict, ...]) -> str | None:
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
