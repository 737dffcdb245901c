"""The difference of two judges over the same notes, as one value a pair or a note.

Every interval, test and gate rule starts from these arrays. With replicates each replicate is
compared with its own clean twins and the credits are averaged; scores are never averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heldout.gepa.statistics.intervals.interval import ClusterSums, Interval, cluster_t
from heldout.gepa.statistics.rates.paired import answered_pairs, half_points
from heldout.gepa.statistics.selection import Selection, rows_of
from heldout.gepa.statistics.table import BoolArray, FloatArray, IntArray, ScoreTable

Replicates = ScoreTable | Sequence[ScoreTable]
"""One table, or one a replicate over the same notes."""


@dataclass(frozen=True)
class Difference:
    """Candidate minus baseline, item by item (a pair or a note).

    `candidate[i]` and `baseline[i]` are integer credits out of `candidate_scale` and
    `baseline_scale`, shape (items,); `cluster` is the item's consultation; `joint` is True where
    both sides answered in every replicate.
    """

    ids: tuple[str, ...]
    candidate: IntArray
    baseline: IntArray
    candidate_scale: int
    baseline_scale: int
    cluster: IntArray
    joint: BoolArray

    @property
    def n(self) -> int:
        """Items compared."""
        return len(self.ids)

    @property
    def consultations(self) -> int:
        """Consultations with at least one item."""
        return int(np.unique(self.cluster).size)

    @property
    def values(self) -> FloatArray:
        """Credit of the candidate minus credit of the baseline, in [-1, 1], shape (items,)."""
        return self.candidate / self.candidate_scale - self.baseline / self.baseline_scale

    @property
    def signs(self) -> IntArray:
        """Sign of each value in exact integers, shape (items,)."""
        cross = self.candidate * self.baseline_scale - self.baseline * self.candidate_scale
        return np.asarray(np.sign(cross), dtype=np.int64)

    @property
    def estimate(self) -> float | None:
        """Mean of the values, or None without items."""
        return float(self.sums.mean) if self.n else None

    @property
    def consultation_weighted(self) -> float | None:
        """Mean with each consultation weighted alike, not each item; None without items."""
        return float(self.sums.equal_weight) if self.n else None

    @property
    def sums(self) -> ClusterSums:
        """Values summed by consultation."""
        return ClusterSums.of(self.values, self.cluster)

    def mirrored(self) -> Difference:
        """The same with the sides exchanged: baseline minus candidate."""
        return replace(
            self,
            candidate=self.baseline,
            baseline=self.candidate,
            candidate_scale=self.baseline_scale,
            baseline_scale=self.candidate_scale,
        )

    def jointly_answered(self) -> Difference:
        """The items that both sides answered in every replicate."""
        keep = self.joint
        return replace(
            self,
            ids=tuple(name for name, kept in zip(self.ids, keep, strict=True) if kept),
            candidate=self.candidate[keep],
            baseline=self.baseline[keep],
            cluster=self.cluster[keep],
            joint=self.joint[keep],
        )

    def interval(self, level: float = 0.95) -> Interval | None:
        """Cluster-robust t interval of the mean, in [-1, 1]; None without items."""
        return cluster_t(self.values, self.cluster, level=level)


def difference(
    candidate: Replicates, baseline: Replicates, select: Selection = "omission"
) -> Difference:
    """Paired discrimination of `candidate` minus that of `baseline`, over all pairs of `select`.

    A pair that a side did not answer stays: it is a loss for the candidate and a half for the
    baseline, so that not answering never pays. The mean is therefore not always the difference of
    the two `paired` values; `jointly_answered()` stands beside. Raises ValueError when the tables
    are not about the same notes.
    """
    ours, theirs = aligned(candidate, baseline)
    first = ours[0]
    rows = rows_of(first, select)
    return Difference(
        ids=tuple(label.id for label, kept in zip(first.labels, rows, strict=True) if kept),
        candidate=_credits(ours, 0)[rows],
        baseline=_credits(theirs, 1)[rows],
        candidate_scale=2 * len(ours),
        baseline_scale=2 * len(theirs),
        cluster=first.cluster[rows],
        joint=np.all([answered_pairs(table) for table in ours + theirs], axis=0)[rows],
    )


def note_difference(
    table: ScoreTable,
    rows: BoolArray,
    candidate: IntArray,
    baseline: IntArray,
    scales: tuple[int, int],
) -> Difference:
    """Candidate minus baseline of integer credits that each note has by itself, shape (notes,).

    `table` gives ids and consultations, `rows` the notes that count, `scales` the full credit of
    each side.
    """
    return Difference(
        ids=tuple(label.id for label, kept in zip(table.labels, rows, strict=True) if kept),
        candidate=candidate[rows],
        baseline=baseline[rows],
        candidate_scale=scales[0],
        baseline_scale=scales[1],
        cluster=table.cluster[rows],
        joint=np.ones(int(rows.sum()), dtype=np.bool_),
    )


def as_replicates(tables: Replicates) -> tuple[ScoreTable, ...]:
    """The tables of one side as a tuple. Raises ValueError when there is none."""
    found = (tables,) if isinstance(tables, ScoreTable) else tuple(tables)
    if not found:
        raise ValueError("a side needs at least one score table")
    return found


def aligned(
    candidate: Replicates, baseline: Replicates
) -> tuple[tuple[ScoreTable, ...], tuple[ScoreTable, ...]]:
    """Both sides in the row order of the candidate's first table."""
    ours, theirs = as_replicates(candidate), as_replicates(baseline)
    labels = ours[0].labels
    return (
        tuple(table.in_order_of(labels) for table in ours),
        tuple(table.in_order_of(labels) for table in theirs),
    )


def _credits(tables: Sequence[ScoreTable], unanswered: int) -> IntArray:
    """Half-points of each note summed over replicates, `unanswered` where a pair has no answer."""
    per_table = [
        np.where(answered_pairs(table), half_points(table), unanswered) for table in tables
    ]
    return np.asarray(np.sum(per_table, axis=0), dtype=np.int64)
