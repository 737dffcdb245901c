import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.score_tables import (
    build,
    grid_scores,
    maybe_scores,
    shuffled,
    table_pairs,
    with_scores,
)

from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.rates.paired import paired


@given(table_pairs(grid_scores))
def test_with_every_score_it_is_winner_minus_baseline(pair):
    ours, theirs = pair
    data = difference(ours, theirs)
    if data.n:
        assert data.estimate == pytest.approx(paired(ours).value - paired(theirs).value)
        assert data.jointly_answered().n == data.n
    else:
        assert data.estimate is None


@given(table_pairs(grid_scores))
def test_exchanging_the_sides_changes_the_sign_only(pair):
    there, back = difference(*pair), difference(*reversed(pair))
    assert np.array_equal(there.values, -back.values)
    assert np.array_equal(there.signs, -back.signs)


def test_not_answering_never_pays():
    # The pair stays: a loss for the candidate, a half for the baseline.
    answered = build((9, [("omit", 8)]))
    silent = build((9, [("omit", None)]))
    no_twin = build((None, [("omit", 8)]))
    assert difference(silent, answered).estimate == -1.0
    assert difference(no_twin, answered).estimate == -1.0
    assert difference(answered, silent).estimate == 0.5
    assert difference(silent, silent).estimate == -0.5
    assert difference(silent, answered).jointly_answered().n == 0
    assert difference(silent, answered).jointly_answered().estimate is None


@given(table_pairs(maybe_scores))
def test_a_candidate_never_gains_by_losing_a_score(pair):
    ours, theirs = pair
    mute = with_scores(ours, [None] * len(ours.scores))
    assert (difference(mute, theirs).values <= difference(ours, theirs).values).all()


@given(table_pairs(maybe_scores), st.randoms(use_true_random=False), st.integers(-9, 9))
def test_row_order_and_relabelling_change_nothing(pair, random, shift):
    order = list(range(len(pair[0].labels)))
    random.shuffle(order)
    moved = [with_scores(t, [None if s is None else s**3 + shift for s in t.scores]) for t in pair]
    for ours, theirs in (
        (shuffled(pair[0], order), pair[1]),
        (pair[0], shuffled(pair[1], order)),
        (moved[0], moved[1]),
    ):
        before, after = difference(*pair), difference(ours, theirs)
        assert after.estimate == before.estimate
        assert after.interval() == before.interval()


def test_replicates_are_compared_each_with_their_own_twins_and_then_averaged():
    # Averaging scores first would tie the pair: clean 9 and errored 9 on average.
    first = build((10, [("omit", 8)]))
    second = build((8, [("omit", 10)]))
    third = build((10, [("omit", 7)]))
    baseline = build((9, [("omit", 9)]))
    data = difference([first, second, third], baseline)
    assert data.values == pytest.approx([2 / 3 - 1 / 2])
    assert list(data.signs) == [1]
    assert list(difference([first, second], baseline).signs) == [0]
    # Three replicates against two: the sign comes from whole numbers.
    assert list(difference([first, second, third], [first, second]).signs) == [1]


def test_tables_about_different_notes_are_refused():
    with pytest.raises(ValueError, match="same notes"):
        difference(build((9, [("omit", 8)])), build((9, [("add", 8)])))
    with pytest.raises(ValueError, match="at least one score table"):
        difference([], build((9, [("omit", 8)])))
