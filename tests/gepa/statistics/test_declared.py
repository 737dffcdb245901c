import math

import pytest

from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.declared import (
    DECLARED,
    Direction,
    UndeclaredMeasure,
    declared,
    figure,
)


def test_every_measure_says_its_direction_and_range():
    for name, measure in DECLARED.items():
        assert measure.name == name
        assert measure.low < measure.high
        assert measure.chance is None or measure.low <= measure.chance <= measure.high


def test_an_undeclared_measure_cannot_be_used():
    with pytest.raises(UndeclaredMeasure, match="'sensitivity' is not declared; known: paired_"):
        figure("sensitivity", 0.5, 10)
    with pytest.raises(UndeclaredMeasure):
        declared("specificity")


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
def test_a_value_outside_the_range_is_an_error(value):
    with pytest.raises(ValueError, match="lies outside"):
        figure("auc", value, 10)


def test_na_carries_support_and_reason():
    found = figure("auc", None, 0)
    assert plain(found) == {
        "value": None,
        "support": 0,
        "direction": "higher",
        "reason": "the denominator is zero",
    }
    assert "reason" not in plain(figure("auc", 0.5, 10))


def test_better_is_lower_or_higher_as_declared():
    assert declared("detection").direction is Direction.HIGHER
    assert declared("false_alarms").direction is Direction.LOWER
    assert declared("length_following").direction is Direction.NEITHER
