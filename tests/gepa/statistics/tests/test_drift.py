"""The drift check: an unmoved judge is called moved in 3% at most, a moved one is found."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from tests.support.score_tables import build, with_scores

from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.tests.drift import SCORE_LEVEL, judge_change
from heldout.gepa.statistics.tests.studentised import flipped_statistics, sign_patterns, upper_p

SETS = 600
PER_CONSULTATION = 5


def found(change, patterns=1_000):
    """Share of data sets (rows of `change`, shape (sets, notes)) whose scores are called moved."""
    rng = generator(5, "drift test")
    cluster = np.arange(change.shape[1]) // PER_CONSULTATION
    member = np.eye(cluster.max() + 1)[cluster]
    sums, sizes = change @ member, member.sum(axis=0)
    signs = sign_patterns(sizes.size, rng, patterns)
    data = ClusterSums(sums, np.broadcast_to(sizes, sums.shape))
    statistics = flipped_statistics(data, signs)
    p = 2 * np.minimum(upper_p(statistics), upper_p(-statistics))
    return float((p <= SCORE_LEVEL).mean())


def scored(rng, notes, sd, shift):
    """Two judgings on a scale of 0 to 10 with call noise; the later one is shifted."""
    first, second = (rng.normal(0, sd, (SETS, notes)) for _ in range(2))
    return second + shift - first


def yes_no(rng, notes, shift, disagreement=0.068):
    """Two judgings by yes or no that agree in 93.2% of notes; the later says yes more often."""
    truth = rng.uniform(size=(SETS, notes)) < 0.3
    noise = (1 - sqrt(1 - 2 * disagreement)) / 2
    first, second = (truth ^ (rng.uniform(size=truth.shape) < noise) for _ in range(2))
    more = ~second & (rng.uniform(size=truth.shape) < shift / (1 - second.mean()))
    return (second | more).astype(float) - first


@pytest.mark.parametrize(
    ("change", "notes"), [((0.8, 100), 100), ((0.3, 42), 42), (None, 250)], ids=str
)
def test_false_alarms_and_power(change, notes):
    rng = np.random.default_rng(notes)
    if change is None:
        still, moved = yes_no(rng, notes, 0.0), yes_no(rng, notes, 0.10)
    else:
        still, moved = (scored(rng, notes, change[0], shift) for shift in (0.0, 0.5))
    assert found(still) <= 0.03 + 2 * sqrt(0.03 * 0.97 / SETS)
    assert found(moved) >= 0.90 - 2 * sqrt(0.9 * 0.1 / SETS)


def test_a_judge_that_only_ranks_otherwise_has_moved_too():
    before = build(*[(9, [("omit", 7)])] * 20)
    after = with_scores(before, [7 if s == 9 else 9 for s in before.scores])
    change = judge_change([before], [after], select="omission", score_range=(0, 10), seed=1)
    assert change.mean_change == 0
    assert change.credit_change == -1
    assert change.moved


def test_the_same_answers_have_not_moved_and_missing_ones_are_not_compared():
    before = build(*[(9, [("omit", 7)])] * 20)
    assert not judge_change(
        [before], [before], select="omission", score_range=(0, 10), seed=1
    ).moved
    silent = with_scores(before, [None] * len(before.scores))
    none = judge_change([before], [silent], select="omission", score_range=(0, 10), seed=1)
    assert (none.notes, none.mean_change, none.score_p, none.moved) == (0, None, None, False)
