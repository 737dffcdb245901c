"""Baseline and winner as the report compares them: on accept and on held-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.events import CandidateEvent
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.run import Run
from heldout.gepa.statistics.intervals.interval import Interval, cluster_wilson
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.rates.paired import answered_pairs, half_points
from heldout.gepa.statistics.selection import PairKind, Selection, rows_of
from heldout.gepa.statistics.table import ScoreTable


@dataclass(frozen=True)
class ComparedBlock:
    """One block: its candidate, its accept scores, and its held-out scores if it has any."""

    role: str
    candidate: CandidateEvent
    accept: ScoreTable
    heldout: Judged | None
    threshold: float | None

    @property
    def on_heldout(self) -> Judged:
        """Its held-out scores. Only for a block that has some."""
        assert self.heldout is not None
        return self.heldout

    @property
    def name(self) -> str:
        """Role and candidate, as in `winner c07`."""
        return f"{self.role} {self.candidate.id}"


@dataclass(frozen=True)
class ComparedBlocks:
    """Baseline first, then the winner where there is one that is not the baseline itself."""

    all: tuple[ComparedBlock, ...]
    primary: PairKind
    level: float
    measure: str
    """The primary measure in words."""

    @property
    def measured(self) -> tuple[ComparedBlock, ...]:
        """Those judged on held-out."""
        return tuple(block for block in self.all if block.heldout is not None)


def compared(run: Run) -> ComparedBlocks | None:
    """The blocks of a run; None before its baseline is scored on accept."""
    baseline, settings, partition = run.baseline, run.settings, run.partition
    if baseline is None or settings is None or partition is None:
        return None
    level = 1 - 2 * settings.gate.alpha / partition.planned_looks
    found = [_block(run, "baseline", baseline, run.compared_baseline)]
    if run.winner is not None and run.winner.id != baseline.id:
        winner = run.candidates[run.winner.id]
        found.append(_block(run, "winner", winner, Purpose.CONFIRM))
    return ComparedBlocks(
        tuple(found), primary_pairs(run.primary), level, run.primary.replace("_", " ")
    )


def _block(run: Run, role: str, candidate: CandidateEvent, purpose: Purpose) -> ComparedBlock:
    accept = run.accept_table(candidate.id)
    assert accept is not None  # seeds and winners were scored on accept
    threshold = _threshold(run, role)
    return ComparedBlock(
        role, candidate, accept, run.judged_on_heldout(purpose, threshold), threshold
    )


def _threshold(run: Run, role: str) -> float | None:
    """The threshold frozen on accept: what held-out was decided at, else the winner event's."""
    figures = run.heldout or run.accept
    if figures is None:
        return None
    at = (figures.winner if role == "winner" else figures.baseline).at_threshold
    return None if at is None else at.threshold


def paired_over(tables: Sequence[ScoreTable], select: Selection, level: float) -> Interval | None:
    """Paired discrimination averaged over replicates, with Wilson's interval over consultations.

    Over pairs that every replicate answered; None where there is none.
    """
    first = tables[0]
    aligned = [table.in_order_of(first.labels) for table in tables]
    rows = rows_of(first, select) & np.all([answered_pairs(t) for t in aligned], axis=0)
    values = np.mean([half_points(table)[rows] / 2 for table in aligned], axis=0)
    return cluster_wilson(np.asarray(values), first.cluster[rows], level=level)
