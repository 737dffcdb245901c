"""A ladder: one block and its control at several reasoning budgets, on the same notes and seeds.

Only the budget moves, so a difference between rungs is the budget's. Everything here is a pure
function of score tables and costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heldout.experiments.practice.combining import Combination, combinations
from heldout.experiments.practice.spent import JudgingCost
from heldout.experiments.report.compared import paired_over
from heldout.gepa.gate.rules import IntervalRule
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.judged import Flags, Judged
from heldout.gepa.statistics.measures import measures
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import DEFAULT_CAP
from heldout.gepa.statistics.selection import PairKind
from heldout.gepa.statistics.table import ScoreTable
from heldout.gepa.statistics.tests.exact import HolmResult, holm
from heldout.splits.errors import BadInput
from heldout.students.models.chat import Budget

LEVEL = 0.95
FAMILIES: tuple[PairKind, ...] = ("omission", "commission")


@dataclass(frozen=True, slots=True)
class Rung:
    """What one call may spend, and how many samples make one judging."""

    budget: Budget
    samples: int = 1

    @property
    def name(self) -> str:
        """Such as `high, 4000 tokens, 8 samples`."""
        effort = self.budget.reasoning_effort or "no effort sent"
        many = f", {self.samples} samples" if self.samples > 1 else ""
        return f"{effort}, {self.budget.max_tokens} tokens{many}"


def rungs_of(
    efforts: Sequence[str | None], max_tokens: Sequence[int], samples: Sequence[int]
) -> tuple[Rung, ...]:
    """One rung an entry; a list of one entry stands for all rungs. Raises BadInput.

    The effort `-` (or None) sends no such parameter.
    """
    lists: dict[str, Sequence[Any]] = {
        "--effort": efforts, "--max-tokens": max_tokens, "--samples": samples
    }  # fmt: skip
    size = max(map(len, lists.values()))
    for option, values in lists.items():
        if len(values) not in (1, size):
            message = f"has {len(values)} values beside {size}: give one, or one a rung"
            raise BadInput.one(option, message)
    for option in ("--max-tokens", "--samples"):
        if any(value < 1 for value in lists[option]):
            raise BadInput.one(option, "every value must be at least 1")
    filled = {option: list(v) * (size if len(v) == 1 else 1) for option, v in lists.items()}
    rungs = tuple(
        Rung(Budget(cap, None if effort in (None, "-") else effort), count)
        for effort, cap, count in zip(*filled.values(), strict=True)
    )
    if len(set(rungs)) < len(rungs):
        raise BadInput.one("--effort", "two rungs are the same")
    return rungs


@dataclass(frozen=True)
class Sat:
    """One block judged at one rung: a table a replicate, the design's flags, what it cost.

    `cost` is None where another run bought the look; `bought_by` names that run.
    """

    tables: tuple[ScoreTable, ...]
    flags: tuple[Flags, ...] | None
    cost: JudgingCost | None
    bought_by: str | None = None

    @property
    def judged(self) -> Judged:
        """For statistics, at the design's own rule where it has one."""
        return Judged(self.tables, self.flags)

    def paired(self, family: PairKind) -> Interval | None:
        """Paired discrimination averaged over replicates, with its interval by consultation."""
        return paired_over(self.tables, family, LEVEL)

    @cached_property
    def clean_scores(self) -> dict[float, int]:
        """How many clean judgings have each score, highest score first."""
        counts: Counter[float] = Counter()
        for table in self.tables:
            counts.update(float(s) for s in table.rounded[table.clean & ~table.missing])
        return dict(sorted(counts.items(), reverse=True))

    @property
    def at_top(self) -> Count:
        """Clean judgings that share the highest score given to any."""
        total = sum(int(table.clean.sum()) for table in self.tables)
        return Count(next(iter(self.clean_scores.values()), 0), total)

    def to_json(self, cap: float) -> dict[str, Any]:
        """Measures, intervals, the distribution of clean scores, costs."""
        return {
            **plain(measures(self.judged, cap=cap)),
            "intervals": {f"paired_{f}s": _json(self.paired(f)) for f in FAMILIES},
            "clean_scores": [{"score": s, "judgings": n} for s, n in self.clean_scores.items()],
            "at_highest_score": self.at_top.to_json(),
            "cost": None if self.cost is None else self.cost.to_json(),
            "bought_by": self.bought_by,
        }


@dataclass(frozen=True)
class Step:
    """Block and control at one rung."""

    rung: Rung
    block: Sat
    control: Sat


@dataclass(frozen=True, slots=True)
class Match:
    """The block at one rung beside the control at the rung that wrote about as much.

    `tokens` are completion tokens a judging of block and control; `difference` is block minus
    control in paired omissions.
    """

    rung: str
    control_rung: str
    tokens: tuple[float, float]
    difference: Interval | None

    @property
    def equal(self) -> bool:
        """True if neither wrote half as much again as the other."""
        low, high = sorted(self.tokens)
        return high <= 1.5 * low

    def to_json(self) -> dict[str, Any]:
        """Stable keys."""
        return {
            "rung": self.rung,
            "control_rung": self.control_rung,
            "completion_tokens": list(self.tokens),
            "equal": self.equal,
            "difference": _json(self.difference),
        }


@dataclass(frozen=True)
class Ladder:
    """All rungs in the order asked for.

    `tested`: the notes are held-out, so the differences to the control are a declared family of
    tests; anywhere else they describe. `family` is what the primary measure is about, `simulated`
    says that the judge was a simulated one.
    """

    name: str
    control: str
    notes: str
    steps: tuple[Step, ...]
    family: PairKind = "omission"
    cap: float = DEFAULT_CAP
    tested: bool = False
    alpha: float = 0.025
    simulated: bool = False

    def beside_control(self, step: Step, family: PairKind) -> Interval | None:
        """Block minus control at the same rung."""
        return difference(step.block.tables, step.control.tables, family).interval(LEVEL)

    def since_first(self, sat: str, step: Step, family: PairKind) -> Interval | None:
        """`block` or `control` at this rung minus the same at the first rung."""
        now, first = getattr(step, sat), getattr(self.steps[0], sat)
        return difference(now.tables, first.tables, family).interval(LEVEL)

    @cached_property
    def holm(self) -> dict[str, HolmResult]:
        """Holm's test of «better than the control» over the rungs; empty where nothing is tested.

        A rung whose difference cannot be tested counts with p = 1.
        """
        if not self.tested:
            return {}
        p_values = {}
        for step in self.steps:
            data = difference(step.block.tables, step.control.tables, self.family)
            p = IntervalRule().verdict(data, alpha=self.alpha, margin=0.0).p
            p_values[step.rung.name] = 1.0 if p is None else p
        return holm(p_values, alpha=self.alpha)

    @property
    def matches(self) -> tuple[Match, ...]:
        """Each rung of the block beside the control rung of the nearest completion tokens."""
        costs = [(s, s.block.cost, s.control.cost) for s in self.steps]
        known = [(step, ours, theirs) for step, ours, theirs in costs if ours and theirs]
        found = []
        for step, ours, _ in known:
            other, _, theirs = min(known, key=lambda entry: _apart(ours, entry[2]))
            data = difference(step.block.tables, other.control.tables, self.family)
            tokens = (ours.completion, theirs.completion)
            found.append(Match(step.rung.name, other.rung.name, tokens, data.interval(LEVEL)))
        return tuple(found)

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """Majorities, unions and escalations of what was judged anyway."""
        return combinations(
            {s.rung.name: s.block for s in self.steps},
            {s.rung.name: s.control for s in self.steps},
            self.cap,
            self.family,
        )

    def to_json(self) -> dict[str, Any]:
        """The whole ladder."""
        return {
            "block": self.name,
            "control": self.control,
            "notes": self.notes,
            "primary": f"paired_{self.family}s",
            "level": LEVEL,
            "tested": self.tested,
            "simulated": self.simulated,
            "rungs": [self._rung(step) for step in self.steps],
            "compute_matched": [match.to_json() for match in self.matches],
            "combinations": [found.to_json() for found in self.combinations],
        }

    def _rung(self, step: Step) -> dict[str, Any]:
        test = self.holm.get(step.rung.name)
        return {
            "rung": step.rung.name,
            "reasoning_effort": step.rung.budget.reasoning_effort,
            "max_tokens": step.rung.budget.max_tokens,
            "samples": step.rung.samples,
            "block": step.block.to_json(self.cap),
            "control": step.control.to_json(self.cap),
            "difference": {f"paired_{f}s": _json(self.beside_control(step, f)) for f in FAMILIES},
            "since_first_rung": {
                who: {f"paired_{f}s": _json(self.since_first(who, step, f)) for f in FAMILIES}
                for who in ("block", "control")
            },
            "test": None
            if test is None
            else {"p": test.p, "adjusted": test.adjusted, "better": test.rejected},
        }


def _apart(ours: JudgingCost, theirs: JudgingCost) -> float:
    """How many times more the one writes than the other, at least 1."""
    low, high = sorted((max(ours.completion, 1.0), max(theirs.completion, 1.0)))
    return high / low


def _json(interval: Interval | None) -> dict[str, object] | None:
    return None if interval is None else interval.to_json()
