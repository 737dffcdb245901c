import tracemalloc

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import (
    bootstrap_interval,
    bootstrap_means,
    cluster_weights,
    generator,
    jackknife,
    sign_flip,
)

SKEWED = ClusterSums(
    np.array([0.0, 1, 0, 2, 0, 0, 3, -1, 0, 1, 0, 4, 0, 0, -2, 1, 0, 5]),
    np.array([1.0, 2, 3, 2, 1, 1, 4, 2, 3, 2, 1, 4, 2, 2, 3, 1, 1, 6]),
)


def ratio(sums, sizes, axis=-1):
    return sums.sum(axis=axis) / sizes.sum(axis=axis)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_intervals_agree_with_scipy(method):
    theirs = scipy.stats.bootstrap(
        (SKEWED.sums, SKEWED.sizes),
        ratio,
        paired=True,
        vectorized=True,
        method=method,
        n_resamples=40_000,
        rng=np.random.default_rng(3),
    ).confidence_interval
    draws = bootstrap_means(SKEWED, generator(3), resamples=40_000)
    ours = bootstrap_interval(SKEWED, draws, method=method.lower())
    assert ours.low == pytest.approx(theirs.low, abs=0.012)
    assert ours.high == pytest.approx(theirs.high, abs=0.012)


def test_the_jackknife_written_out():
    data = ClusterSums(np.array([1.0, 0.0, 3.0]), np.array([2.0, 1.0, 3.0]))
    assert jackknife(data) == pytest.approx([3 / 4, 4 / 5, 1 / 3])
    with pytest.raises(ValueError, match="left out of itself"):
        jackknife(ClusterSums(np.array([1.0]), np.array([2.0])))


def test_a_resample_draws_as_many_consultations_as_there_are():
    weights = cluster_weights(7, 500, generator("w"))
    assert weights.shape == (500, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert weights.mean() == 1.0
    assert weights.mean(axis=0) == pytest.approx(1, abs=0.2)


def test_equal_paths_give_equal_draws_and_others_do_not():
    first = bootstrap_means(SKEWED, generator(1, "a"), resamples=50)
    assert np.array_equal(first, bootstrap_means(SKEWED, generator(1, "a"), resamples=50))
    assert not np.array_equal(first, bootstrap_means(SKEWED, generator(1, "b"), resamples=50))


@given(
    st.lists(st.integers(-4, 4), min_size=2, max_size=10), st.sampled_from(["percentile", "bca"])
)
def test_intervals_hold_the_estimate_and_stay_in_the_range(sums, method):
    data = ClusterSums(np.array(sums, dtype=float), np.full(len(sums), 4.0))
    draws = bootstrap_means(data, generator("range"), resamples=200)
    found = bootstrap_interval(data, draws, method=method)
    assert -1 <= found.low <= found.estimate <= found.high <= 1


def test_few_consultations_are_flipped_in_every_way():
    data = ClusterSums(np.array([3.0, 2.0, 1.0, -1.0]), np.ones(4))
    # The patterns that reach the observed sum of 5 are 3+2+1+1, 3+2+1-1 and 3+2-1+1.
    test = sign_flip(data, generator(1))
    assert test.exact
    assert test.patterns == 16
    assert test.p == 3 / 16


def test_drawn_flips_agree_with_the_exact_share():
    rng = np.random.default_rng(2)
    sums = rng.normal(0.4, 1, 13)
    exact = sign_flip(ClusterSums(sums, np.ones(13)), generator(1))
    doubled = ClusterSums(np.append(sums, 0.0), np.ones(14))
    drawn = sign_flip(doubled, generator(1), patterns=40_000)
    assert exact.exact
    assert not drawn.exact
    assert drawn.p == pytest.approx(exact.p, abs=3 * (exact.p / 40_000) ** 0.5)


def test_all_ties_are_no_evidence():
    assert sign_flip(ClusterSums(np.zeros(20), np.ones(20)), generator(1)).p == 1
    assert sign_flip(ClusterSums(np.zeros(5), np.ones(5)), generator(1)).p == 1


def test_the_margin_is_taken_from_every_pair():
    data = ClusterSums(np.array([0.5, 1.0, 0.5, 1.0, 0.5]), np.array([1.0, 2, 1, 2, 1]))
    assert sign_flip(data, generator(1)).p == 1 / 32
    assert sign_flip(data, generator(1), margin=0.5).p == 1
    assert sign_flip(data, generator(1), margin=0.6).p == 1


def test_a_large_bootstrap_stays_small_in_memory():
    data = ClusterSums(np.ones(4_000), np.full(4_000, 5.0))
    tracemalloc.start()
    draws = bootstrap_means(data, generator(1), resamples=2_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert draws.shape == (2_000,)
    assert peak < 200e6
