"""A rung of a ladder: what one judging may spend, and what a block did at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heldout.experiments.judging.costs import JudgingCost
from heldout.experiments.report.compared import paired_over
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.judged import Flags, Judged
from heldout.gepa.statistics.measures import Measures, measures
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.selection import PairKind
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.errors import BadInput
from heldout.students.models.chat import Budget

LEVEL = 0.95
PAIR_KINDS: tuple[PairKind, ...] = ("omission", "commission")


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

    def to_json(self) -> dict[str, Any]:
        """`{reasoning_effort, max_tokens, samples}`."""
        return {
            "reasoning_effort": self.budget.reasoning_effort,
            "max_tokens": self.budget.max_tokens,
            "samples": self.samples,
        }


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
        if option != "--effort" and any(value < 1 for value in values):
            raise BadInput.one(option, "every value must be at least 1")
    filled = [list(values) * (size if len(values) == 1 else 1) for values in lists.values()]
    rungs = tuple(
        Rung(Budget(cap, None if effort in (None, "-") else effort), count)
        for effort, cap, count in zip(*filled, strict=True)
    )
    if len(set(rungs)) < len(rungs):
        raise BadInput.one("--effort", "two rungs are the same")
    return rungs


def rungs_asked(
    own: Rung, effort: str | None, max_tokens: str | None, samples: str | None
) -> tuple[Rung, ...]:
    """The rungs of options that hold lists separated by commas; without any option none.

    An option that is left out is that of the rung a block came with, `own`. Raises BadInput.
    """
    if (effort, max_tokens, samples) == (None, None, None):
        return ()
    return rungs_of(
        [own.budget.reasoning_effort] if effort is None else _split(effort),
        _numbers("--max-tokens", max_tokens, own.budget.max_tokens),
        _numbers("--samples", samples, own.samples),
    )


@dataclass(frozen=True)
class RungResult:
    """One block judged at one rung: a table a replicate, the design's flags, what it cost.

    `cost` is None where another run bought the look; `bought_by` names that run.
    """

    tables: tuple[ScoreTable, ...]
    flags: tuple[Flags, ...] | None
    cost: JudgingCost | None
    bought_by: str | None = None

    def measures(self, cap: float) -> Measures:
        """At the design's own rule where it has one, and swept at the false-alarm `cap`."""
        return measures(Judged(self.tables, self.flags), cap=cap)

    def paired(self, pairs: PairKind) -> Interval | None:
        """Paired discrimination averaged over replicates, with its interval by consultation."""
        return paired_over(self.tables, pairs, LEVEL)

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
            **plain(self.measures(cap)),
            "intervals": plain({f"paired_{kind}s": self.paired(kind) for kind in PAIR_KINDS}),
            "clean_scores": [{"score": s, "judgings": n} for s, n in self.clean_scores.items()],
            "at_highest_score": plain(self.at_top),
            "cost": plain(self.cost),
            "bought_by": self.bought_by,
        }


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] or [""]


def _numbers(option: str, text: str | None, own: int) -> list[int]:
    if text is None:
        return [own]
    try:
        return [int(part) for part in _split(text)]
    except ValueError:
        raise BadInput.one(option, f"{text!r} is not a list of whole numbers") from None
