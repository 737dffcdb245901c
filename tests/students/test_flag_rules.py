import pytest

from heldout.students.flag_rules import majority, winsorised_mean


def test_the_extremes_are_replaced_by_their_nearest_kept_values():
    assert winsorised_mean([0, 4, 5, 5, 6, 6, 7, 10]) == pytest.approx(44 / 8)
    assert winsorised_mean([0, 0, 10]) == 0
    assert winsorised_mean([0, 10]) == 5
    assert winsorised_mean([3]) == 3
    with pytest.raises(ValueError, match="no values"):
        winsorised_mean([])


def test_a_tie_is_no_majority():
    assert majority([True, True, False])
    assert not majority([True, False])
    assert not majority([])
