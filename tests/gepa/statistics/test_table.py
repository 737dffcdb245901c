import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.score_tables import build, shuffled, tables

from heldout.gepa.statistics.table import ScoreTable


def test_faults_of_a_table_are_errors():
    good = build((9, [("omit", 8)]))
    with pytest.raises(ValueError, match="2 labels beside 1 scores"):
        ScoreTable(good.labels, (1.0,))
    with pytest.raises(ValueError, match="stands twice"):
        ScoreTable((good.labels[0],) * 2, (1.0, 2.0))
    with pytest.raises(ValueError, match="clean twin"):
        ScoreTable(good.labels[1:], (1.0,))
    with pytest.raises(ValueError, match="finite"):
        ScoreTable(good.labels, (1.0, float("nan")))


@given(tables(), st.randoms(use_true_random=False))
def test_order_of_labels_is_restored(table, random):
    order = list(range(len(table.labels)))
    random.shuffle(order)
    assert shuffled(table, order).in_order_of(table.labels) == table


def test_tables_about_different_notes_are_not_aligned():
    with pytest.raises(ValueError, match="same notes"):
        build((9, [("omit", 8)])).in_order_of(build((9, [("add", 8)])).labels)


def test_consultations_are_numbered_by_name_whatever_the_order():
    table = build((9, [("omit", 8)]), (7, [("add", 6)]))
    assert list(table.cluster) == [0, 0, 1, 1]
    assert list(shuffled(table, [3, 2, 1, 0]).cluster) == [1, 1, 0, 0]
