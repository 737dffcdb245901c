"""Rewards: the study's formulas, the weight of clean notes, separation beside them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.benchmarks.in_process import consultation

from heldout.gepa.reward import RankReward, mean_reward, rank_reward, separation, win_value

CLEAN, *ERRORED = [note.label for note in consultation(1).notes]
SCORE = st.one_of(st.none(), st.floats(0, 10))


def scores(clean: float | None, errored: float | None) -> dict[str, float | None]:
    return {CLEAN.id: clean, **{label.id: errored for label in ERRORED}}


@pytest.mark.parametrize(
    ("clean", "errored", "expected"),
    [
        (8.0, 9.0, 0.0),  # above its twin
        (8.0, 8.0, 0.25),  # tied
        (8.0, 7.4, 0.6),  # 0.5 + 0.6 / 6
        (8.0, 2.0, 1.0),  # capped
        (None, 5.0, 0.0),
        (8.0, None, 0.0),
    ],
)
def test_errored_notes_earn_their_rank(clean, errored, expected) -> None:
    reward = rank_reward((0.0, 10.0))
    assert reward.of(ERRORED[0], scores(clean, errored)) == pytest.approx(expected)


def test_clean_notes_earn_their_scaled_score() -> None:
    assert rank_reward((0.0, 10.0)).of(CLEAN, scores(7.0, 1.0)) == pytest.approx(0.7)
    assert rank_reward((0.0, 1.0)).of(CLEAN, scores(0.9, 0.1)) == pytest.approx(0.9)


def test_the_slope_follows_the_score_range() -> None:
    assert rank_reward((0.0, 1.0)) == RankReward(0.0, 1.0, 10.0)
    assert rank_reward((0.0, 10.0)).slope == pytest.approx(1 / 6)


@given(clean=SCORE, errored=SCORE)
def test_rewards_lie_in_the_unit_interval(clean, errored) -> None:
    for label in (CLEAN, *ERRORED):
        assert 0.0 <= rank_reward((0.0, 10.0)).of(label, scores(clean, errored)) <= 1.0


@pytest.mark.parametrize(("weight", "expected"), [(0.0, 1.0), (1.0, 0.96), (0.1, 4.08 / 4.1)])
def test_clean_weight_moves_the_mean(weight: float, expected: float) -> None:
    labels = [CLEAN, *ERRORED]
    mean = mean_reward(rank_reward((0.0, 10.0)), labels, scores(8.0, 2.0), weight)
    assert mean == pytest.approx(expected)


def test_no_weight_at_all_is_zero_and_no_division() -> None:
    assert mean_reward(rank_reward((0.0, 10.0)), [CLEAN], scores(8.0, 2.0), 0.0) == 0.0


def test_a_tie_is_half_a_win_in_the_measure_and_a_quarter_in_the_reward() -> None:
    assert win_value(ERRORED[0], scores(8.0, 8.0)) == 0.5
    assert rank_reward((0.0, 10.0)).of(ERRORED[0], scores(8.0, 8.0)) == 0.25


def test_separation_compares_across_consultations() -> None:
    first, second = consultation(1), consultation(2)
    labels = [n.label for n in (first.notes[0], first.notes[1], second.notes[0], second.notes[1])]
    given_scores = dict(zip([label.id for label in labels], [8.0, 7.0, 6.0, 5.0], strict=True))
    # 7 < 8, 7 > 6, 5 < 8, 5 < 6: three couples of four in the right order.
    assert separation(labels, given_scores) == 0.75
    assert separation(labels[:1], given_scores) is None
