"""The studentised sign flip against full enumeration, and what must leave it as it is."""

from __future__ import annotations

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.gepa.gate.simulated_rules import ships
from heldout.gepa.statistics.intervals.interval import ClusterSums, t_ends
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.tests.studentised import StudentisedFlip, sign_patterns


def statistic(sums, sizes):
    """The t statistic of a ratio mean, written out as the page defines it."""
    g, total = len(sums), sum(sizes)
    mean = sum(sums) / total
    spread = sum((s - mean * m) ** 2 for s, m in zip(sums, sizes, strict=True)) * g / (g - 1)
    if abs(sum(sums)) < 1e-12:
        return 0.0
    return sum(sums) / sqrt(spread) if spread > 1e-20 else np.sign(sum(sums)) * np.inf


def enumerated(sums, sizes, margin):
    """One-sided p by trying every pattern of signs."""
    shifted = [s - margin * m for s, m in zip(sums, sizes, strict=True)]
    observed = statistic(shifted, sizes)
    found = [
        statistic([e * u for e, u in zip(signs, shifted, strict=True)], sizes)
        for signs in product((1, -1), repeat=len(sums))
    ]
    return sum(t >= observed - 1e-9 for t in found) / len(found)


def flip(sums, sizes, seed=1, patterns=2_000):
    data = ClusterSums(np.asarray(sums, dtype=float), np.asarray(sizes, dtype=float))
    return StudentisedFlip(data, sign_patterns(data.clusters, generator(seed, "t"), patterns))


sizes_and_sums = st.integers(3, 8).flatmap(
    lambda g: st.tuples(
        st.lists(st.integers(1, 9), min_size=g, max_size=g),
        st.lists(st.integers(-4, 4), min_size=g, max_size=g),
    )
)


@given(sizes_and_sums, st.sampled_from([-0.21, 0.0, 0.13]))
@settings(max_examples=60, deadline=None)
def test_it_is_the_enumeration(drawn, margin):
    sizes, halves = drawn
    sums = [h / 4 * m for h, m in zip(halves, sizes, strict=True)]
    assert flip(sums, sizes).p(margin) == pytest.approx(enumerated(sums, sizes, margin))


@given(sizes_and_sums, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_order_and_scale_change_nothing(drawn, random):
    sizes, halves = drawn
    sums = [h / 4 * m for h, m in zip(halves, sizes, strict=True)]
    order = random.sample(range(len(sums)), len(sums))
    mixed = flip([sums[k] for k in order], [sizes[k] for k in order])
    assert mixed.p(0.0) == pytest.approx(flip(sums, sizes).p(0.0))
    assert flip([7 * s for s in sums], sizes).p(0.0) == pytest.approx(flip(sums, sizes).p(0.0))


def test_the_interval_is_the_margins_that_are_not_rejected():
    rng = np.random.default_rng(3)
    test = flip(rng.normal(0.1, 0.3, 30), np.ones(30))
    found = test.interval(0.95)
    assert found.low < found.estimate < found.high
    assert test.p(found.low - 1e-6) <= 0.025 < test.p(found.low + 1e-6)
    mirrored = flip(-test.data.sums, np.ones(30)).interval(0.95)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))
    plain = t_ends(test.data, level=0.95)
    assert (found.low, found.high) == pytest.approx((float(plain[0]), float(plain[1])), abs=0.02)


def test_without_spread_the_interval_is_not_of_width_zero():
    found = flip([0.5] * 20, [1] * 20).interval(0.95)
    assert found.low < 0.5 < found.high


def test_four_that_differ_are_never_enough_and_one_giant_is_not_many():
    """The t interval ships a tenth of such nulls at 20 consultations."""
    rng = generator(7, "uneven")
    sizes = rng.integers(1, 5, size=(2_000, 20)).astype(float)
    four = np.zeros_like(sizes)
    four[:, :4] = rng.choice([-0.5, 0.5], size=(2_000, 4))
    assert not ships(ClusterSums(four, sizes), "studentised", rng, alpha=0.025).any()
    sizes[:, 0] = 40
    moving = ClusterSums(rng.normal(size=sizes.shape) * sizes, sizes)
    shipped = {r: ships(moving, r, rng, alpha=0.025).mean() for r in ("studentised", "interval")}
    assert shipped["studentised"] < 0.025 + 4 * sqrt(0.025 * 0.975 / 2_000)
    assert shipped["interval"] > 0.06


@given(
    st.lists(st.integers(1, 6), min_size=14, max_size=30),
    st.integers(0, 2**31),
    st.sampled_from([0.8, 0.95]),
)
@settings(max_examples=25, deadline=None)
def test_uneven_consultations_have_an_interval_too(sizes, seed, level):
    """Inside it neither side of the test rejects, outside one does; ends stay in the range."""
    rng = np.random.default_rng(seed)
    sums = np.array([rng.choice([-1, -0.5, 0, 0.5, 1], size=m).sum() for m in sizes])
    test = flip(sums, sizes, patterns=500)
    mirrored = flip(-sums, sizes, patterns=500)
    found = test.interval(level)
    assert -1 <= found.low < found.estimate < found.high <= 1
    tail = 0.5 - level / 2
    for margin in np.linspace(-1, 1, 41):
        rejected = test.p(margin) <= tail or mirrored.p(-margin) <= tail
        if min(abs(margin - found.low), abs(margin - found.high)) > 1e-6:
            assert rejected == (not found.low <= margin <= found.high)
