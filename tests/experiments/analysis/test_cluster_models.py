import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.notes import benchmark
from tests.support.score_tables import build, with_scores

from heldout.experiments.analysis.cluster_models import Assumed, Pilot, pair_counts, resized
from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.intervals.resampling import generator

SIZES = np.tile(np.array([1, 2, 3, 4, 2]), (4_000, 1))
OURS = build(
    *[(9, [("omit", a), ("weak", b)]) for a, b in [(8, 8), (8, 9), (10, 9), (9, 9), (8, 10)] * 4]
)
PILOT = Pilot.of([difference(OURS, with_scores(OURS, [9] * len(OURS.scores)))])


@pytest.mark.parametrize("model", [Assumed(), Assumed(icc=0.5), PILOT], ids=str)
@pytest.mark.parametrize("effect", [-0.2, 0.0, 0.05, 0.4])
def test_the_mean_is_the_wanted_difference(model, effect):
    data = model.draw(SIZES, effect, generator("mean"))
    error = data.mean.std(ddof=1) / len(data.sums) ** 0.5
    assert abs(data.mean.mean() - effect) < 3 * error
    assert data.sums.shape == SIZES.shape
    assert np.array_equal(data.sizes, SIZES)


def test_assumed_values_are_those_of_paired_differences():
    ones = np.ones((50_000, 1), dtype=np.int64)
    values = Assumed(discordant=0.3, full=0.1, icc=0.2).draw(ones, 0.0, generator("v")).sums
    assert set(np.unique(values)) == {-1.0, -0.5, 0.0, 0.5, 1.0}
    assert (values != 0).mean() == pytest.approx(0.3, abs=0.01)
    assert (np.abs(values) == 1).mean() == pytest.approx(0.03, abs=0.005)


@pytest.mark.parametrize("icc", [0.0, 0.3, 1.0])
def test_pairs_of_a_consultation_are_as_alike_as_assumed(icc):
    twos = np.full((200_000, 1), 2)
    model = Assumed(icc=icc)
    sums = model.draw(twos, 0.0, generator("icc")).sums
    ones = model.draw(np.ones_like(twos), 0.0, generator("one")).sums
    # The variance of a sum of two is twice the variance of one, times one plus the correlation.
    assert sums.var() / (2 * ones.var()) - 1 == pytest.approx(icc, abs=0.03)


@given(st.floats(-1, 1))
def test_every_possible_effect_can_be_drawn(effect):
    data = Assumed().draw(np.ones((2_000, 1), dtype=np.int64), effect, generator("any"))
    assert abs(float(data.sums.mean()) - effect) < 0.1


def test_impossible_settings_are_errors():
    with pytest.raises(ValueError, match="does not exist"):
        Assumed().draw(SIZES, 1.5, generator("x"))
    with pytest.raises(ValueError, match="icc must lie"):
        Assumed(icc=2)
    with pytest.raises(ValueError, match="at least one pair"):
        Pilot.of([difference(build((9, [("add", 8)])), build((9, [("add", 8)])))])


def test_a_pilot_keeps_the_spread_of_its_pairs():
    ones = np.ones((40_000, 1), dtype=np.int64)
    values = difference(OURS, with_scores(OURS, [9] * len(OURS.scores))).values
    drawn = PILOT.draw(ones, float(values.mean()), generator("p")).sums
    assert drawn.var() == pytest.approx(values.var(), rel=0.03)
    assert set(np.unique(drawn)) == set(np.unique(values))
    assert "1 comparison" in PILOT.description


def test_a_pilot_is_reproduced_as_it_is_when_nothing_is_tilted():
    data = difference(OURS, with_scores(OURS, [9] * len(OURS.scores)))
    twos = np.full((40_000, 1), 2)
    drawn = PILOT.draw(twos, float(data.values.mean()), generator("whole")).sums[:, 0]
    sums, counts = np.unique(data.sums.sums, return_counts=True)
    shares = [float((drawn == value).mean()) for value in sums]
    assert shares == pytest.approx(list(counts / counts.sum()), abs=0.01)


def test_tilting_makes_gaining_consultations_more_frequent():
    small = PILOT.draw(np.full((20_000, 1), 2), 0.3, generator("t")).sums
    values = set(np.unique(difference(OURS, with_scores(OURS, [9] * len(OURS.scores))).sums.sums))
    assert set(np.unique(small)) <= values
    assert small.mean() / 2 == pytest.approx(0.3, abs=0.01)


def test_consultations_larger_than_the_pilots_are_made_of_several():
    data = PILOT.draw(np.full((4_000, 3), 5), 0.1, generator("large"))
    assert data.mean.mean() == pytest.approx(0.1, abs=0.01)


def test_an_effect_beyond_the_pilot_is_shifted_to():
    same = build(*[(9, [("omit", 9), ("omit", 9)])] * 4)
    pilot = Pilot.of([difference(same, same)])
    data = pilot.draw(SIZES, 0.3, generator("far"))
    assert data.mean == pytest.approx(np.full(len(SIZES), 0.3))


def test_pairs_are_counted_by_consultation_and_family():
    made = benchmark(3)
    expected = [sum(n.label.note_class.is_omission for n in c.errored) for c in made]
    assert pair_counts(made, "omission") == tuple(expected)
    errored = pair_counts(made, "errored")
    commissions = pair_counts(made, "commission")
    assert [a + b for a, b in zip(expected, commissions, strict=True)] == list(errored)


def test_larger_sets_are_drawn_from_the_same_sizes():
    sizes = resized((2, 3, 3), 50, 20, generator("s"))
    assert sizes.shape == (20, 50)
    assert set(np.unique(sizes)) == {2, 3}
