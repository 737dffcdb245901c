import numpy as np
import pytest
from tests.support.score_tables import build, with_scores

from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.statistics.tests.optimism import (
    SearchOutcome,
    placebo_optimism,
    selection_optimism,
)

RNG = np.random.default_rng(4)
NOTES = build(*[(5, [("omit", 5), ("omit", 5)])] * 20)


def noisy():
    """A candidate that is no better than any other: coin flips on every pair."""
    return with_scores(NOTES, (np.array(NOTES.scores) + RNG.normal(0, 1, 60)).tolist())


def test_one_candidate_was_not_chosen():
    found = selection_optimism([noisy()], generator(1))
    assert abs(found.value) < 3 * found.error
    assert selection_optimism([], generator(1)) is None
    assert selection_optimism([build((9, [("add", 8)]))], generator(1)) is None


def test_the_estimate_is_of_the_size_of_the_true_overstatement():
    # Every candidate is worth 0.5, so what the best of ten has above 0.5 is overstatement.
    estimates, truths = [], []
    for _ in range(60):
        pool = [noisy() for _ in range(10)]
        estimates.append(selection_optimism(pool, generator(1), resamples=400).value)
        truths.append(max(paired(table).value for table in pool) - 0.5)
    assert 0.85 * np.mean(truths) < np.mean(estimates) < 1.1 * np.mean(truths)


def test_candidates_of_different_worth_are_overstated_by_less_and_never_by_more():
    # Nine pairs of ten are won for certain by the first one, so there is little to choose.
    better = np.array(
        [not label.is_clean and row % 20 > 1 for row, label in enumerate(NOTES.labels)]
    )
    estimates, truths = [], []
    for _ in range(40):
        pool = [noisy() for _ in range(6)]
        scores = np.where(better, -9.0, np.array(pool[0].scores))
        pool[0] = with_scores(NOTES, scores.tolist())
        found = [paired(table).value for table in pool]
        chosen = int(np.argmax(found))
        truths.append(found[chosen] - 0.95)
        assert chosen == 0
        estimates.append(selection_optimism(pool, generator(1), resamples=400).value)
    assert abs(np.mean(truths)) < 0.01
    assert 0 <= np.mean(estimates) < 0.01


def test_a_candidate_that_always_wins_is_not_overstated():
    best = with_scores(NOTES, [5.0 if label.is_clean else 1.0 for label in NOTES.labels])
    found = selection_optimism([best, *(noisy() for _ in range(5))], generator(1))
    assert 0 <= found.value < 0.005


def test_unanswered_pairs_drop_out_of_their_candidate():
    half = [None if i % 6 == 1 else s for i, s in enumerate(noisy().scores)]
    found = selection_optimism([with_scores(NOTES, half), noisy()], generator(1), resamples=500)
    assert 0 <= found.value < 0.2


def test_placebo_searches_estimate_the_whole():
    found = placebo_optimism([SearchOutcome(0.6, 0.5), SearchOutcome(0.58, 0.52)])
    assert found.value == pytest.approx(0.08)
    assert found.error == pytest.approx(0.02)
    assert placebo_optimism([SearchOutcome(0.6, 0.5)]) is None


def test_searches_that_a_seed_won_are_counted_apart():
    won = SearchOutcome(0.6, 0.5)
    assert placebo_optimism([won, won]).made_from == "2 searches on placebo"
    found = placebo_optimism([won, None, won, None, None])
    assert found.made_from == "2 of 5 searches on placebo, a seed won 3"
    assert placebo_optimism([won, None]) is None
