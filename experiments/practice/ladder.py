"""A ladder: one block and its control at several reasoning budgets, on the same notes and seeds.

Only the budget moves, so a difference between rungs is the budget's. Everything here is a pure
function of score tables and costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from heldout.experiments.judging.costs import JudgingCost
from heldout.experiments.practice.combining import Combination, combinations
from heldout.experiments.practice.rungs import LEVEL, PAIR_KINDS, Rung, RungResult
from heldout.gepa.gate.rules import IntervalRule
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.rates.detection import DEFAULT_CAP
from heldout.gepa.statistics.selection import PairKind
from heldout.gepa.statistics.tests.exact import HolmResult, holm

EQUAL = 1.5
"""Two rungs are at equal compute while the longer replies are at most so many times the shorter."""


@dataclass(frozen=True)
class LadderStep:
    """Block and control at one rung."""

    rung: Rung
    block: RungResult
    control: RungResult


@dataclass(frozen=True, slots=True)
class ComputeMatch:
    """The block at one rung beside the control at the rung that wrote about as much.

    `completion_tokens` are those a judging of block and control; `equal`: neither wrote half as
    much again as the other; `difference` is block minus control in the primary pairs.
    """

    rung: str
    control_rung: str
    completion_tokens: tuple[float, float]
    equal: bool
    difference: Interval | None


@dataclass(frozen=True)
class Ladder:
    """All rungs in the order asked for.

    `tested`: the notes are held-out, so the differences to the control are a declared family of
    tests; anywhere else they describe. `pairs` is what the primary measure is about, `simulated`
    says that the judge was a simulated one.
    """

    name: str
    control: str
    notes: str
    steps: tuple[LadderStep, ...]
    pairs: PairKind = "omission"
    cap: float = DEFAULT_CAP
    tested: bool = False
    alpha: float = 0.025
    simulated: bool = False

    def beside_control(self, step: LadderStep, pairs: PairKind) -> Interval | None:
        """Block minus control at the same rung."""
        return difference(step.block.tables, step.control.tables, pairs).interval(LEVEL)

    def since_first(self, sat: str, step: LadderStep, pairs: PairKind) -> Interval | None:
        """`block` or `control` at this rung minus the same at the first rung."""
        now, first = getattr(step, sat), getattr(self.steps[0], sat)
        return difference(now.tables, first.tables, pairs).interval(LEVEL)

    @cached_property
    def holm(self) -> dict[str, HolmResult]:
        """Holm's test of «better than the control» over the rungs; empty where nothing is tested.

        A rung whose difference cannot be tested counts with p = 1.
        """
        if not self.tested:
            return {}
        p_values = {}
        for step in self.steps:
            data = difference(step.block.tables, step.control.tables, self.pairs)
            p = IntervalRule().verdict(data, alpha=self.alpha, margin=0.0).p
            p_values[step.rung.name] = 1.0 if p is None else p
        return holm(p_values, alpha=self.alpha)

    @property
    def matches(self) -> tuple[ComputeMatch, ...]:
        """Each rung of the block beside the control rung of the nearest completion tokens."""
        costs = [(s, s.block.cost, s.control.cost) for s in self.steps]
        known = [(step, ours, theirs) for step, ours, theirs in costs if ours and theirs]
        found = []
        for step, ours, _ in known:
            other, _, theirs = min(known, key=lambda entry: _apart(ours, entry[2]))
            data = difference(step.block.tables, other.control.tables, self.pairs)
            tokens = (ours.completion_tokens, theirs.completion_tokens)
            equal = max(tokens) <= EQUAL * min(tokens)
            match = ComputeMatch(
                step.rung.name, other.rung.name, tokens, equal, data.interval(LEVEL)
            )
            found.append(match)
        return tuple(found)

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """Majorities, unions and escalations of what was judged anyway."""
        return combinations(
            {s.rung.name: s.block for s in self.steps},
            {s.rung.name: s.control for s in self.steps},
            self.cap,
            self.pairs,
        )

    def to_json(self) -> dict[str, Any]:
        """The whole ladder."""
        return {
            "block": self.name,
            "control": self.control,
            "notes": self.notes,
            "primary": f"paired_{self.pairs}s",
            "level": LEVEL,
            "tested": self.tested,
            "simulated": self.simulated,
            "rungs": [self._rung(step) for step in self.steps],
            "compute_matched": plain(self.matches),
            "combinations": plain(self.combinations),
        }

    def _rung(self, step: LadderStep) -> dict[str, Any]:
        test = self.holm.get(step.rung.name)
        return {
            "rung": step.rung.name,
            **step.rung.to_json(),
            "block": step.block.to_json(self.cap),
            "control": step.control.to_json(self.cap),
            "difference": _by_kind(partial(self.beside_control, step)),
            "since_first_rung": {
                who: _by_kind(partial(self.since_first, who, step)) for who in ("block", "control")
            },
            "test": None
            if test is None
            else {"p": test.p, "adjusted": test.adjusted, "better": test.rejected},
        }


def _apart(ours: JudgingCost, theirs: JudgingCost) -> float:
    """How many times more the one writes than the other, at least 1."""
    low, high = sorted((max(ours.completion_tokens, 1.0), max(theirs.completion_tokens, 1.0)))
    return high / low


def _by_kind(interval: Callable[[PairKind], Interval | None]) -> dict[str, Any]:
    """An interval by measure, as JSON."""
    return {f"paired_{kind}s": plain(interval(kind)) for kind in PAIR_KINDS}
