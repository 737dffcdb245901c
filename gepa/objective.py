"""Objectives: what makes one candidate better than another on accept.

An objective is a frozen dataclass with one method that turns a score table into a tuple, higher
is better, compared from the left. Ties are broken outside: shorter block, then older candidate.
The three are those of the study's campaigns (`configs/study/`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from heldout.gepa.candidates import Candidate
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.settings import Denominator, Primary
from heldout.gepa.statistics.rates.detection import DEFAULT_CAP, swept, threshold_flags
from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.statistics.table import BoolArray, ScoreTable
from heldout.splits.benchmark import Severity

Rank = tuple[float, ...]
UNMEASURED = -1.0
"""Stands for a measure without a single pair: below every real value."""


class Objective(Protocol):
    """Ranks score tables on one and the same set of notes."""

    def rank(self, table: ScoreTable) -> Rank:
        """The table's rank, higher is better; the first entry is what progress shows."""


@dataclass(frozen=True, slots=True)
class PairedFirst:
    """The confirmatory campaign's: the primary measure, then swept detection.

    Where detection at the cap is primary it comes first, and the paired measure second.
    """

    primary: Primary = "paired_omissions"
    cap: float = DEFAULT_CAP
    denominator: Denominator = "full"

    def rank(self, table: ScoreTable) -> Rank:
        """Paired discrimination in [0, 1], then notes detected at the cap."""
        if self.primary == "detection_at_cap":
            return DetectionFirst(self.primary, self.cap, self.denominator).rank(table)
        detected = swept(table, self.cap, primary_pairs(self.primary)).detection.k
        return (_discrimination(table, self.primary, self.denominator), float(detected))


@dataclass(frozen=True, slots=True)
class DetectionFirst:
    """The second campaign's: detection at the false-alarm cap, then the paired measure."""

    primary: Primary = "paired_omissions"
    cap: float = DEFAULT_CAP
    denominator: Denominator = "full"

    def rank(self, table: ScoreTable) -> Rank:
        """Swept detection in [0, 1], then paired discrimination in [0, 1]."""
        rate = swept(table, self.cap, primary_pairs(self.primary)).detection.rate
        second = _discrimination(table, self.primary, self.denominator)
        return (UNMEASURED if rate is None else rate, second)


@dataclass(frozen=True, slots=True)
class SeverityWeighted:
    """The exploratory campaign's J, feasible only within the false-alarm cap.

    J = 0.45 severity-weighted omission detection + 0.20 severity-weighted commission detection +
    0.35 (1 - false alarms), at the swept threshold; weights critical 1, supporting 0.5,
    peripheral 0.25. An infeasible table ranks below every feasible one.
    """

    cap: float = DEFAULT_CAP
    omissions: float = 0.45
    commissions: float = 0.20
    quiet: float = 0.35

    def rank(self, table: ScoreTable) -> Rank:
        """J in [0, 1], 0 where no threshold is feasible."""
        threshold = swept(table, self.cap).threshold
        if threshold is None:
            return (0.0,)
        flagged = threshold_flags(table, threshold)
        alarms = float(flagged[table.clean].mean()) if table.clean.any() else 0.0
        weights = np.array([_WEIGHT.get(label.severity, 0.0) for label in table.labels])
        found = [
            _weighted_share(flagged, weights, rows) for rows in (table.omission, table.commission)
        ]
        j = self.omissions * found[0] + self.commissions * found[1] + self.quiet * (1 - alarms)
        return (j,)


def _discrimination(table: ScoreTable, primary: Primary, denominator: Denominator) -> float:
    """Paired discrimination; over all pairs one without an answer is a loss, so that it never pays
    to leave the hard ones unanswered.
    """
    found = paired(table, primary_pairs(primary))
    value = found.full if denominator == "full" else found.value
    return UNMEASURED if value is None else value


_WEIGHT: dict[Severity | None, float] = {
    Severity.CRITICAL: 1.0,
    Severity.SUPPORTING: 0.5,
    Severity.PERIPHERAL: 0.25,
}


def _weighted_share(flagged: BoolArray, weights: np.ndarray, rows: BoolArray) -> float:
    total = float(weights[rows].sum())
    return float(weights[rows & flagged].sum()) / total if total else 0.0


def best(entered: Sequence[Candidate], objective: Objective) -> Candidate:
    """The winner: highest rank, then the shorter block, then the older. Raises ValueError."""

    def order(candidate: Candidate) -> tuple[Rank, int, str]:
        assert candidate.accept is not None  # the pool admits no entered candidate without scores
        return (
            tuple(-value for value in objective.rank(candidate.accept)),
            candidate.length,
            candidate.id,
        )

    return min(entered, key=order)
