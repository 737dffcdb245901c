"""Baseline and winner as the report compares them: on accept and on held-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout.experiments.report.view import Body, RunView
from heldout.gepa.evaluation import Purpose
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.events import EventKind
from heldout.gepa.statistics.intervals.interval import UNIT, Interval, cluster_t
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.rates.paired import answered_pairs, half_points
from heldout.gepa.statistics.selection import PairKind, Selection, rows_of
from heldout.gepa.statistics.table import ScoreTable


@dataclass(frozen=True)
class Side:
    """One block: its candidate, its accept scores, and its held-out scores if it has any."""

    role: str
    candidate: Body
    accept: ScoreTable
    heldout: Judged | None
    threshold: float | None

    @property
    def name(self) -> str:
        """Role and candidate, as in `winner c07`."""
        return f"{self.role} {self.candidate['id']}"


@dataclass(frozen=True)
class Sides:
    """Baseline first, then the winner where there is one that is not the baseline itself."""

    all: tuple[Side, ...]
    primary: PairKind
    level: float

    @property
    def measured(self) -> tuple[Side, ...]:
        """Those judged on held-out."""
        return tuple(side for side in self.all if side.heldout is not None)

    @property
    def measure(self) -> str:
        """The primary measure in words."""
        return f"paired {self.primary}s"


def sides_of(view: RunView) -> Sides | None:
    """The sides of a run; None before its baseline is scored on accept."""
    baseline, winner = view.baseline, view.winner
    if baseline is None:
        return None
    gate = view.settings["gate"]
    level = 1 - 2 * gate["alpha"] / view.partition["planned_looks"]
    found = [_side(view, "baseline", baseline, Purpose.BASELINE)]
    if winner is not None and winner["id"] != baseline["id"]:
        found.append(_side(view, "winner", winner, Purpose.CONFIRM))
    selection = primary_pairs(view.settings["search"]["primary"])
    primary: PairKind = "commission" if selection == "commission" else "omission"
    return Sides(tuple(found), primary, level)


def _side(view: RunView, role: str, candidate: Body, purpose: Purpose) -> Side:
    accept = view.accept_table(candidate["id"])
    assert accept is not None  # seeds and winners were scored on accept
    threshold = _threshold(view, role)
    return Side(role, candidate, accept, view.heldout(purpose, threshold), threshold)


def _threshold(view: RunView, role: str) -> float | None:
    """The threshold frozen on accept, as the winner event has it."""
    winner = view.last(EventKind.WINNER)
    at = None if winner is None else winner["accept"][role]["at_threshold"]
    value: float | None = None if at is None else at["threshold"]
    return value


def paired_over(tables: Sequence[ScoreTable], select: Selection, level: float) -> Interval | None:
    """Paired discrimination averaged over replicates, with its cluster-robust interval.

    Over pairs that every replicate answered; None where there is none.
    """
    first = tables[0]
    aligned = [table.in_order_of(first.labels) for table in tables]
    rows = rows_of(first, select) & np.all([answered_pairs(t) for t in aligned], axis=0)
    values = np.mean([half_points(table)[rows] / 2 for table in aligned], axis=0)
    return cluster_t(np.asarray(values), first.cluster[rows], level=level, bounds=UNIT)
