import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.score_tables import build, grid_scores, shuffled, tables, with_scores

from heldout.gepa.statistics.rates.paired import Paired, paired
from heldout.gepa.statistics.selection import rows_of
from heldout.splits.benchmark import NoteClass, Severity, TraceLevel


def test_wins_ties_losses_and_unanswered_pairs_are_counted_apart():
    table = build(
        (9, [("omit", 8), ("omit", 9), ("weak", 10), ("strong", None)]),
        (None, [("omit", 3), ("add", 2)]),
        (5, [("add", 4)]),
    )
    assert paired(table) == Paired(wins=1, ties=1, losses=1, violations=2)
    assert paired(table).half_points == 3
    assert paired(table).value == 0.5
    assert paired(table, "commission") == Paired(1, 0, 0, violations=1)


def test_no_answered_pair_is_na_and_not_a_number():
    assert paired(build((9, [("add", 8)]))).value is None
    assert paired(build((None, [("omit", 8)]))) == Paired(0, 0, 0, violations=1)


def test_scores_that_differ_by_rounding_error_tie():
    assert paired(build((0.3, [("omit", 0.1 + 0.2)]))).ties == 1
    assert paired(build((0.3, [("omit", 0.3 - 2e-9)]))).wins == 1


@pytest.mark.parametrize(
    ("select", "wins"),
    [
        ("errored", 5),
        (NoteClass.OMIT_COMPLETE, 1),
        (NoteClass.OMIT_PARTIAL, 2),
        (NoteClass.CHANGE, 1),
        (TraceLevel.PARTIAL_STRONG, 1),
        (Severity.CRITICAL, 2),
        (np.array([False, True, False, False, False, False]), 1),
    ],
)
def test_every_kind_of_selection(select, wins):
    table = build((9, [("omit", 1), ("weak", 2), ("strong", 3), ("add", 4), ("change", 5)]))
    assert paired(table, select).wins == wins


def test_a_wrong_selection_is_an_error():
    table = build((9, [("omit", 1)]))
    with pytest.raises(ValueError, match="none of omission"):
        rows_of(table, "omissions")
    with pytest.raises(ValueError, match="errored notes only"):
        rows_of(table, np.array([True, False]))
    with pytest.raises(ValueError, match="one entry a row"):
        rows_of(table, np.array([True]))


@given(tables(), st.randoms(use_true_random=False))
def test_row_order_changes_nothing(table, random):
    order = list(range(len(table.labels)))
    random.shuffle(order)
    for select in ("omission", "commission", "errored"):
        assert paired(shuffled(table, order), select) == paired(table, select)


@given(tables(), st.integers(-50, 50), st.sampled_from([0.5, 2, 7]))
def test_a_constant_and_a_monotone_relabelling_change_nothing(table, shift, factor):
    moved = [None if s is None else s * factor + shift for s in table.scores]
    cubed = [None if s is None else s**3 for s in table.scores]
    assert paired(with_scores(table, moved)) == paired(table)
    assert paired(with_scores(table, cubed)) == paired(table)


@given(tables(grid_scores))
def test_turning_the_scale_round_swaps_wins_and_losses(table):
    before = paired(table)
    after = paired(with_scores(table, [-s for s in table.scores]))
    assert (after.wins, after.ties, after.losses) == (before.losses, before.ties, before.wins)
    if before.value is not None:
        assert after.value == pytest.approx(1 - before.value)
