"""Did the judge itself move between two judgings of one block on the same notes?

Under the null the two judgings are replicates: exchangeable, so their difference in a consultation
is as likely to have either sign. Run-to-run spread is therefore in the null, however large it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import RESAMPLES, generator
from heldout.gepa.statistics.selection import Selection
from heldout.gepa.statistics.table import FloatArray, ScoreTable
from heldout.gepa.statistics.tests.studentised import StudentisedFlip, sign_patterns

SCORE_LEVEL, CREDIT_LEVEL = 0.02, 0.01
"""Two-sided levels of the two tests: together at most 3% of unmoved judges are called moved."""


@dataclass(frozen=True, kw_only=True)
class JudgeChange:
    """Later minus earlier judging of one block.

    `notes` were answered in both. `mean_change`: of a score, as a share of the score range;
    `credit_change`: of the paired figure over pairs answered in both; `score_p` and `credit_p` are
    two-sided. None where there is nothing to compare.
    """

    notes: int
    mean_change: float | None
    score_p: float | None
    credit_change: float | None
    credit_p: float | None

    @property
    def moved(self) -> bool:
        """True if the judge is shown to have moved, by its scores or by its paired figure."""
        tests = ((self.score_p, SCORE_LEVEL), (self.credit_p, CREDIT_LEVEL))
        return any(p is not None and p <= level for p, level in tests)


def judge_change(
    earlier: Sequence[ScoreTable],
    later: Sequence[ScoreTable],
    *,
    select: Selection,
    score_range: tuple[float, float],
    seed: int,
) -> JudgeChange:
    """Both tests, by the studentised sign flip over consultations; `score_range` is low and high.

    Tables are replicates over the same notes, in any order of rows.
    """
    labels = later[0].labels
    before, after = (_mean([t.in_order_of(labels) for t in tables]) for tables in (earlier, later))
    change = (after - before) / (score_range[1] - score_range[0])
    both = ~np.isnan(change)
    credit = difference(later, earlier, select).jointly_answered()
    scored = ClusterSums.of(change[both], later[0].cluster[both]) if both.any() else None
    paired = credit.sums if credit.n else None
    return JudgeChange(
        notes=int(both.sum()),
        mean_change=None if scored is None else float(scored.mean),
        score_p=None if scored is None else two_sided(scored, seed, "scores"),
        credit_change=credit.estimate,
        credit_p=None if paired is None else two_sided(paired, seed, "credit"),
    )


def two_sided(data: ClusterSums, seed: int, what: str, patterns: int = RESAMPLES) -> float:
    """Two-sided p of a mean other than 0; 1 for a single consultation."""
    if data.clusters < 2:
        return 1.0
    signs = sign_patterns(data.clusters, generator(seed, "drift", what), patterns)
    mirrored = ClusterSums(-data.sums, data.sizes)
    return min(1.0, 2 * min(StudentisedFlip(d, signs).p(0.0) for d in (data, mirrored)))


def _mean(tables: Sequence[ScoreTable]) -> FloatArray:
    """Mean score of each note over the replicates, NaN where one has none."""
    return np.asarray(np.mean([table.values for table in tables], axis=0))
