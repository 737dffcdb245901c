"""The drift check: an unmoved judge is called moved in 3% at most, a moved one is found."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from tests.support.moving_judges import called_moved, scored, yes_no
from tests.support.score_tables import build, with_scores

from heldout.gepa.statistics.tests.drift import judge_change

SETS = 600


@pytest.mark.parametrize(("sd", "notes"), [(0.8, 100), (0.3, 42), (None, 250)])
def test_false_alarms_and_power(sd, notes):
    rng = np.random.default_rng(notes)
    if sd is None:
        still, moved = (yes_no(rng, SETS, notes, shift=shift) for shift in (0.0, 0.10))
    else:
        still, moved = (scored(rng, SETS, notes, sd=sd, shift=shift) for shift in (0.0, 0.5))
    assert called_moved(still) <= 0.03 + 2 * sqrt(0.03 * 0.97 / SETS)
    assert called_moved(moved) >= 0.90 - 2 * sqrt(0.9 * 0.1 / SETS)


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
