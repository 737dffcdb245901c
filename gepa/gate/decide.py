"""The gate: whether the winner of a search may be emitted, decided on held-out data.

Everything here is a pure function of score tables; who may look at held-out notes, and when, is the
vault's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from math import ceil, log2
from typing import Annotated

import numpy as np
from annotated_types import Ge

from heldout.gepa.gate.decision import (
    Consultations,
    Decision,
    FamilyMember,
    Finding,
    PreGate,
    RunToRun,
)
from heldout.gepa.gate.rules import UNTESTED, Rule, RuleVerdict, all_rules
from heldout.gepa.gate.settings import (
    STUDY_PRE_GATE,
    GateSettings,
    PreGateName,
    SideMargins,
    primary_pairs,
)
from heldout.gepa.gate.usable import NO_LOOK, FlagTest, Usable
from heldout.gepa.settings import Primary, RuleName
from heldout.gepa.statistics.agreement.replicates import Spread, paired_spread
from heldout.gepa.statistics.difference import Difference, difference, note_difference
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.intervals.run_to_run import (
    FEWEST_RUNS,
    CrossedSums,
    crossed_interval,
    crossed_p,
)
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import at_frozen
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
    "not_confirmed",
    "pre_gate",
    "primary_difference",
]

SAME = 1e-9
"""Sums of a consultation this close do not differ."""


def pre_gate(
    candidate: Judged, baseline: Judged, settings: GateSettings, *, primary: Primary
) -> PreGate:
    """Whether the look is bought, from the accept tables.

    `above`: the primary difference is above the bar of the goal, 0 for a superior winner.
    `study`: it and the difference of swept detection both exceed two points. `off`: always.
    """
    gain = primary_difference(candidate, baseline, primary).estimate
    rates = [swept(j.majority, settings.cap).detection.rate for j in (candidate, baseline)]
    swept_gain = None if None in rates else (rates[0] or 0.0) - (rates[1] or 0.0)
    buys = settings.pre_gate == "off"
    if settings.pre_gate == "above":
        buys = gain is not None and gain > min(0.0, settings.bar)
        buys &= settings.goal != "equivalent" or abs(gain or 0.0) < settings.margin
    if settings.pre_gate == "study":
        buys = min(gain or 0.0, swept_gain or 0.0) > STUDY_PRE_GATE
    return PreGate(rule=settings.pre_gate, buys=buys, primary=gain, swept_detection=swept_gain)


def decide(  # noqa: PLR0913
    candidate: Judged,
    baseline: Judged,
    settings: GateSettings,
    *,
    primary: Primary,
    planned_looks: Annotated[int, Ge(1)] = 1,
    seed: int,
    rule: Rule | None = None,
    words: Judged | None = None,
) -> Decision:
    """Decide on held-out tables; every rule is evaluated, the chosen one decides.

    `seed` drives the resampling rules only. `rule` is the one that `settings.rule` names where it
    is not built in. Each of `planned_looks` is tested at alpha / planned_looks. `words` is the word
    count on the same notes, at a threshold frozen as the winner's.
    """
    data = primary_difference(candidate, baseline, primary)
    alpha = settings.alpha / planned_looks
    rules = all_rules(seed) if rule is None else {**all_rules(seed), settings.rule: rule}
    verdicts = _verdicts(rules, data, settings, alpha)
    chosen = verdicts[settings.rule]
    interval = chosen.interval or data.interval(1 - 2 * alpha)
    run_to_run = _run_to_run(candidate, baseline, primary, settings, alpha)
    margins = settings.side_margins.by_measure()
    differences = _side_differences(candidate, baseline, primary)
    sides = side_verdicts(differences, margins, level=1 - 2 * alpha)
    counted = _counted(data, interval, settings, alpha)
    pairs = primary_pairs(primary)
    flags = FlagTest(pairs=pairs, cap=settings.cap, alpha=alpha, rule=rules["studentised"])
    use = flags.usable(candidate, words)
    decision = Decision(
        decision="emitted",
        reason=None,
        rule=settings.rule,
        usable=use,
        goal=settings.goal,
        margin=settings.margin,
        alpha=settings.alpha,
        planned_looks=planned_looks,
        finding=_finding(interval, settings, shown=chosen.ships),
        difference=interval,
        jointly_answered=data.jointly_answered().interval(1 - 2 * alpha),
        winner_minus_baseline=_minus(run_to_run.winner.mean, run_to_run.baseline.mean),
        consultation_weighted=data.consultation_weighted,
        largest_gain_not_excluded=None if interval is None else interval.high,
        verdicts=tuple(verdicts.values()),
        sides=sides,
        above_chance=_above_chance(candidate, primary, use, 1 - 2 * alpha),
        run_to_run=run_to_run,
        consultations=counted,
    ).told()
    reasons = (
        _too_few(counted, settings),
        None if chosen.ships else "gate",
        _within_noise(run_to_run, settings) if chosen.ships else None,
        "gate:usable" if settings.require_usable and not use.usable else None,
        _harmed(sides, settings),
    )
    return reduce(Decision.refused, filter(None, reasons), decision)


def _verdicts(
    rules: Mapping[RuleName, Rule], data: Difference, settings: GateSettings, alpha: float
) -> dict[RuleName, RuleVerdict]:
    """What every rule says of the goal."""
    found = {
        name: replace(rule.verdict(data, alpha=alpha, margin=settings.bar), rule=name)
        for name, rule in rules.items()
    }
    if settings.goal != "equivalent":
        return found
    return {
        name: _both_sides(verdict, rules[name], data, alpha, settings.margin)
        for name, verdict in found.items()
    }


def not_confirmed(reason: str, settings: GateSettings) -> Decision:
    """The decision without a look at held-out for the winner."""
    return Decision(
        decision="not_confirmed",
        reason=reason,
        rule=settings.rule,
        usable=NO_LOOK,
        goal=settings.goal,
    ).told()


def primary_difference(candidate: Judged, baseline: Judged, primary: Primary) -> Difference:
    """Candidate minus baseline of the primary measure, pair by pair or note by note.

    Raises ValueError where detection is primary and a side has no threshold.
    """
    if primary != "detection_at_cap":
        return difference(candidate.tables, baseline.tables, primary_pairs(primary))
    like = candidate.tables[0]
    ours, theirs = candidate.frozen_flags(like), baseline.frozen_flags(like)
    if ours is None or theirs is None:
        raise ValueError("detection needs a threshold that was frozen on accept")
    credits = ours.astype(np.int64), theirs.astype(np.int64)
    return note_difference(like, like.omission, *credits, (1, 1))


def decide_family(decisions: Mapping[str, Decision]) -> dict[str, Decision]:
    """Holm within a declared family of targets, each decided with the same settings and looks.

    A member whose p does not survive the adjustment is refused as `gate:family`. The point rule has
    no p and is left as it is; a member whose rule could not be evaluated counts with p = 1, and one
    that held-out was not looked at for is no test.
    """
    tested = {name: d for name, d in decisions.items() if d.looked and d.rule not in UNTESTED}
    levels = {(d.alpha or 0.0) / (d.planned_looks or 1) for d in tested.values()}
    if len(levels) > 1:
        raise ValueError(f"a family is tested at one level, not at {sorted(levels)}")
    p_values = {n: 1.0 if d.p is None else d.p for n, d in tested.items()}
    results = holm(p_values, alpha=levels.pop()) if tested else {}
    family = tuple(
        FamilyMember(
            name=name,
            difference=d.difference,
            p=p_values.get(name),
            adjusted=results[name].adjusted if name in results else None,
            shown=d.ships and (name not in results or results[name].rejected),
        )
        for name, d in decisions.items()
    )
    shown = {member.name: member.shown for member in family}
    listed = {name: replace(d, family=family).told() for name, d in decisions.items()}
    return {
        name: d.refused("gate:family") if d.ships and not shown[name] else d
        for name, d in listed.items()
    }


def _side_differences(
    candidate: Judged, baseline: Judged, primary: Primary
) -> dict[str, Difference | None]:
    """Every side measure beside a primary one; paired omissions in the place of detection."""
    side: PairedSide = "omissions" if primary == "paired_commissions" else "commissions"
    found = side_differences(candidate, baseline, paired_side=side)
    if primary == "detection_at_cap":
        del found["detection"]
        found["omissions"] = difference(candidate.tables, baseline.tables, "omission")
    return found


def _above_chance(winner: Judged, primary: Primary, use: Usable, level: float) -> Interval | None:
    """The primary figure of the winner beside what a judge without a signal gets."""
    if primary == "detection_at_cap":
        return use.above_clean
    data = difference(winner.tables, winner.tables, primary_pairs(primary))
    chance = replace(data, baseline=np.ones_like(data.baseline), baseline_scale=2)
    return chance.interval(level)


def _both_sides(
    verdict: RuleVerdict, rule: Rule, data: Difference, alpha: float, margin: float
) -> RuleVerdict:
    """Equivalence by two one-sided tests (Schuirmann 1987): the larger p is that of the whole."""
    mirrored = rule.verdict(data.mirrored(), alpha=alpha, margin=-margin)
    p = None if verdict.p is None or mirrored.p is None else max(verdict.p, mirrored.p)
    return replace(verdict, ships=verdict.ships and mirrored.ships, p=p)


def _run_to_run(
    candidate: Judged, baseline: Judged, primary: Primary, settings: GateSettings, alpha: float
) -> RunToRun:
    """The spread of either block, and from three replicates on the interval that allows for it."""
    pairs = primary_pairs(primary)
    spreads = [_spread(judge, primary) for judge in (candidate, baseline)]
    runs = list(zip(candidate.tables, baseline.tables, strict=False))
    together = len(candidate.tables) == len(baseline.tables) >= FEWEST_RUNS
    interval = p = None
    if together and primary != "detection_at_cap":
        sums = [difference(ours, theirs, pairs).sums for ours, theirs in runs]
        if sums[0].clusters > 1:
            crossed = CrossedSums(np.array([one.sums for one in sums]), sums[0].sizes)
            interval = crossed_interval(crossed, level=1 - 2 * alpha)
            p = crossed_p(crossed, settings.bar)
            if settings.goal == "equivalent":
                p = max(p, crossed_p(replace(crossed, sums=-crossed.sums), settings.bar))
    return RunToRun(winner=spreads[0], baseline=spreads[1], interval=interval, p=p)


def _spread(judge: Judged, primary: Primary) -> Spread:
    """The primary figure of each replicate."""
    if primary != "detection_at_cap":
        return paired_spread(judge.tables, primary_pairs(primary))
    at = [at_frozen(replace(judge, tables=(table,))) for table in judge.tables]
    return Spread.of([None if found is None else found.detection.rate for found in at])


def _counted(
    data: Difference, interval: Interval | None, settings: GateSettings, alpha: float
) -> Consultations:
    sums = data.sums if data.n else None
    differing = 0
    if sums is not None:
        differing = int((np.abs(sums.sums) > SAME).sum())
    ends: list[int | None] = [None, None]
    if interval is not None:
        both = [_needed(data, end, settings, alpha) for end in (interval.low, interval.high)]
        ends = ends if None in both else both
    return Consultations(
        have=data.consultations,
        effective=0.0 if sums is None else sums.effective,
        differing=differing,
        least_differing=ceil(log2(1 / alpha)),
        needed_at_low=ends[0],
        needed_at_high=ends[1],
        needed_for_hoped=_needed(data, settings.hoped_gain, settings, alpha),
        hoped_gain=settings.hoped_gain,
    )


def _too_few(counted: Consultations, settings: GateSettings) -> str | None:
    few = (counted.effective or 0.0) < settings.min_effective
    alike = (counted.differing or 0) < (counted.least_differing or 0)
    if settings.bar < 0 and not counted.differing:
        alike = False  # nothing differs: the exact bound decides, and holds its level
    return "gate:too_few" if settings.min_effective and (few or alike) else None


def _within_noise(found: RunToRun, settings: GateSettings) -> str | None:
    interval = found.interval
    if interval is None or settings.rule in UNTESTED:
        return None
    inside = settings.goal != "equivalent" or interval.high < settings.margin
    return None if interval.low > settings.bar and inside else "gate:noise"


def _harmed(sides: tuple[SideVerdict, ...], settings: GateSettings) -> str | None:
    cleared = settings.sides == "require_cleared"
    against = [
        side.measure
        for side in sides
        if side.state is SideState.HARM or (cleared and side.state is not SideState.CLEARED)
    ]
    return f"side:{against[0]}" if against else None


def _finding(interval: Interval | None, settings: GateSettings, *, shown: bool) -> Finding:
    """What is shown; never the opposite of what the rule says."""
    tested = settings.rule not in UNTESTED
    if interval is None or (shown and not tested and interval.low <= max(0.0, settings.margin)):
        return Finding.COULD_NOT_BE_SEEN
    if shown:
        # A test against a margin of 0 or more excludes zero, whatever interval stands beside it.
        superior = settings.goal == "superior" and settings.margin >= 0
        if settings.goal != "equivalent" and (superior or interval.low > 0):
            return Finding.BETTER
        return Finding.EQUIVALENT if settings.goal == "equivalent" else Finding.NOT_WORSE
    if interval.high < min(0.0, settings.bar):
        return Finding.WORSE
    return Finding.NO_BETTER if interval.high < settings.hoped_gain else Finding.COULD_NOT_BE_SEEN


def _needed(data: Difference, effect: float, settings: GateSettings, alpha: float) -> int | None:
    return consultations_needed(data, effect, margin=settings.bar, alpha=alpha)


def _minus(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or theirs is None else ours - theirs
