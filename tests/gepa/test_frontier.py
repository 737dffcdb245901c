"""The per-example Pareto frontier: who leads, who is dominated, who is drawn as a parent."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.benchmarks.in_process import consultation

from heldout.gepa.frontier import Frontier, raw_reward, win_tie_loss
from heldout.gepa.reward import rank_reward

Values = dict[str, list[float]]


def frontier_of(values: Values) -> Frontier:
    frontier = Frontier(lambda scores: np.array(list(scores.values()), dtype=float))
    for id_, row in values.items():
        frontier.add(id_, dict(enumerate(row)))
    return frontier


def brute_force(values: Values) -> dict[str, int]:
    """The definition, word for word."""
    best = [max(column) for column in zip(*values.values(), strict=True)]
    leads = {id_: {k for k, v in enumerate(row) if v == best[k]} for id_, row in values.items()}
    return {
        id_: len(mine)
        for id_, mine in leads.items()
        if mine and not any(mine < other for other in leads.values())
    }


pools = st.integers(1, 6).flatmap(
    lambda examples: st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=examples, max_size=examples),
        min_size=1,
        max_size=12,
    )
)


@given(rows=pools)
def test_members_are_those_of_the_definition(rows: list[list[float]]) -> None:
    values = {f"c{k:02d}": row for k, row in enumerate(rows)}
    assert frontier_of(values).members == brute_force(values)


@given(rows=pools)
def test_someone_always_leads(rows: list[list[float]]) -> None:
    members = frontier_of({f"c{k:02d}": row for k, row in enumerate(rows)}).members
    assert members
    assert all(led > 0 for led in members.values())


def test_equal_lead_sets_stay_together() -> None:
    assert frontier_of({"a": [1, 0], "b": [1, 0]}).members == {"a": 2, "b": 2}


def test_a_strict_superset_of_leads_dominates() -> None:
    assert frontier_of({"a": [1, 0], "b": [1, 1]}).members == {"b": 2}


def test_parents_are_drawn_in_proportion_to_what_they_lead() -> None:
    frontier = frontier_of({"a": [1, 1, 1, 0], "b": [0, 0, 0, 1]})
    drawn = Counter(frontier.draw(7, "parent", k) for k in range(4000))
    assert drawn["a"] / 4000 == pytest.approx(0.75, abs=0.03)


def test_complementary_couples_each_win_something() -> None:
    frontier = frontier_of({"a": [1, 1, 0], "b": [0, 1, 1], "c": [1, 1, 0]})
    assert frontier.complementary("a") == ["b"]
    assert frontier.complementary("b") == ["a", "c"]


def test_win_tie_loss_is_about_errored_notes_and_their_own_twins() -> None:
    notes = consultation(1).notes
    labels = [note.label for note in notes]
    clean, *errored = [note.id for note in notes]
    scores = {clean: 5.0, **dict(zip(errored, [4.0, 5.0, 6.0, None], strict=True))}
    assert list(win_tie_loss(labels)(scores)) == [1.0, 0.5, 0.0, 0.0]


def test_raw_reward_values_clean_notes_too() -> None:
    notes = consultation(1).notes
    labels = [note.label for note in notes]
    clean, *errored = [note.id for note in notes]
    scores = {clean: 5.0, **dict(zip(errored, [2.0, 5.0, 6.0, None], strict=True))}
    values = raw_reward(labels, rank_reward((0, 10)))(scores)
    assert list(values) == [0.5, 1.0, 0.25, 0.0, 0.0]
