"""Runs that move as a whole: the interval that allows for them holds its level."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import special

from heldout.gepa.statistics.intervals.interval import ClusterSums, t_ends
from heldout.gepa.statistics.intervals.run_to_run import CrossedSums, crossed_interval, crossed_p


def drawn(rng, sets, runs, groups, run_sd):
    """Null data sets: consultations, cells and runs all have a spread."""
    sizes = rng.integers(1, 5, size=(sets, groups)).astype(float)
    parts = (
        rng.normal(0, 0.3, size=(sets, 1, groups)),
        rng.normal(0, 0.25, size=(sets, runs, groups)),
        rng.normal(0, run_sd, size=(sets, runs, 1)),
    )
    return CrossedSums(sum(parts) * sizes[:, None, :], sizes)


def test_it_is_the_two_way_layout():
    rng = np.random.default_rng(2)
    cells = rng.normal(size=(4, 9)) + rng.normal(size=(4, 1))
    total, degrees = CrossedSums(cells, np.ones(9)).variance()
    centred = cells - cells.mean()
    groups = (centred.mean(axis=0) ** 2).sum() / 8 / 9
    runs = centred.mean(axis=1).var(ddof=1)
    rest = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None]
    cell = (rest**2).sum() / (8 * 3)
    assert float(total) == pytest.approx(groups + max(0, runs - cell / 9) / 4)
    assert 1 <= float(degrees) <= 8


def test_runs_that_agree_leave_the_interval_of_the_consultations():
    rng = np.random.default_rng(4)
    one = rng.normal(0.1, 0.3, 25)
    found = crossed_interval(CrossedSums(np.array([one] * 3), np.ones(25)), level=0.95)
    plain = t_ends(ClusterSums(one, np.ones(25)), level=0.95)
    assert (found.low, found.high) == pytest.approx(tuple(map(float, plain)))


@pytest.mark.parametrize("groups", [47, 112])
def test_a_spread_between_runs_no_longer_breaks_the_level(groups):
    data = drawn(np.random.default_rng(groups), 4_000, 3, groups, 0.08)
    total, degrees = data.variance()
    quantile = special.stdtrit(degrees, 0.975)
    both = float((data.mean - quantile * np.sqrt(total) > 0).mean())
    plain = t_ends(ClusterSums(data.sums.mean(axis=1), data.sizes), level=0.95)[0]
    error = sqrt(0.025 * 0.975 / 4_000)
    assert both < 0.025 + 4 * error
    assert float((plain > 0).mean()) > 0.045


@pytest.mark.parametrize("alpha", [0.025, 0.1, 0.4])
def test_p_reaches_the_level_where_the_interval_reaches_the_margin(alpha):
    data = drawn(np.random.default_rng(5), 1, 3, 20, 0.05)
    one = CrossedSums(data.sums[0] + 0.3, data.sizes[0])
    found = crossed_interval(one, level=1 - 2 * alpha)
    assert crossed_p(one, found.low) == pytest.approx(alpha)
    assert crossed_p(one, found.estimate) == pytest.approx(0.5)
    mirrored = CrossedSums(-one.sums, one.sizes)
    assert crossed_p(mirrored, -found.high) == pytest.approx(alpha)


def test_without_any_spread_the_exact_bound_stands():
    same = CrossedSums(np.full((3, 20), 0.5), np.ones(20))
    found = crossed_interval(same, level=0.95)
    assert found.low < 0.5 < found.high
    assert crossed_p(same, found.low) == pytest.approx(0.025)
