import pytest
from tests.support.score_tables import build

from heldout.gepa.statistics.agreement.length import length_following


def words(table, counts):
    return dict(zip([label.id for label in table.labels], counts, strict=True))


def test_following_is_within_consultations():
    # Between consultations longer notes score lower; inside, longer is better.
    table = build((9, [("omit", 8), ("add", 10)]), (5, [("omit", 4), ("add", 6)]))
    found = length_following(table, words(table, [10, 9, 11, 100, 99, 101]))
    assert found.correlation == pytest.approx(1)
    assert (found.n, found.consultations) == (6, 2)
    turned = length_following(table, words(table, [10, 11, 9, 100, 101, 99]))
    assert turned.correlation == pytest.approx(-1)


def test_no_variation_is_na():
    flat = build((9, [("omit", 9)]), (0.1, [("omit", 0.1), ("add", 0.1)]))
    assert length_following(flat, words(flat, [10, 9, 30, 20, 25])).correlation is None
    varied = build((9, [("omit", 8)]))
    assert length_following(varied, words(varied, [10, 10])).correlation is None


def test_a_consultation_with_one_scored_note_says_nothing():
    table = build((9, [("omit", None)]), (9, [("omit", 8)]))
    found = length_following(table, words(table, [10, 9, 10, 9]))
    assert (found.n, found.consultations) == (2, 1)
