import numpy as np
import pytest
from tests.support.score_tables import build

from heldout.gepa.statistics.slices import (
    AXES,
    all_slices,
    consultation_mean,
    distinct,
    paired_interval,
    slices,
)

WIDE = build(*[(9, [("omit", 8), ("weak", 9), ("add", 10)])] * 12, strata=("x", "y"))


def test_each_axis_has_its_keys_and_support():
    keys = {axis: slices(WIDE, axis) for axis in AXES}
    assert set(keys["class"]) == {"omit-complete", "omit-partial", "add"}
    assert set(keys["trace"]) == {"complete", "partial-weak"}
    assert set(keys["severity"]) == {"critical", "supporting"}
    assert set(keys["stratum"]) == {"x", "y"}
    assert set(keys["source"]) == {"hand"}
    added = keys["class"]["add"]
    assert (added.wins, added.ties, added.losses) == (0, 0, 12)
    assert keys["class"]["omit-complete"].paired == 1
    assert keys["stratum"]["x"].consultations == 6


def test_slices_of_a_comparison_do_not_mix_classes():
    parts = all_slices(WIDE)
    found = parts["stratum"]["x"]
    assert (found.wins, found.ties, found.losses) == (6, 6, 0)
    assert "add" in parts["class"]


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        (build(*[(9, [("omit", 8)] * 2)] * 5), True),
        (build(*[(9, [("omit", 8)] * 9)] * 1), False),
        (build(*[(9, [("omit", 8)] * 3)] * 4), False),
        (build(*[(9, [("omit", 8)])] * 9), False),
        (build(*[(9, [("omit", 8), ("omit", None)])] * 9), False),
    ],
)
def test_small_support_shows_counts_only(table, shown):
    part = slices(table, "trace")["complete"]
    assert (part.interval is not None) == shown
    assert (part.paired is not None) == shown
    assert part.wins == part.n


def test_the_interval_of_one_table_lies_in_the_unit_range():
    found = paired_interval(WIDE)
    assert found.estimate == 0.75
    assert 0 <= found.low < 0.75 < found.high <= 1
    assert paired_interval(build((9, [("add", 8)]))) is None
    assert paired_interval(WIDE, np.zeros(len(WIDE.labels), dtype=bool)) is None


def test_the_same_notes_have_one_name_and_equal_counts_are_not_the_same_notes():
    parts = {axis: slices(WIDE, axis, "omission") for axis in AXES}
    found = distinct(parts)
    assert ("trace", "complete") in found
    assert ("class", "omit-complete") not in found
    # Both strata have the same counts and different notes.
    assert parts["stratum"]["x"].wins == parts["stratum"]["y"].wins
    assert {("stratum", "x"), ("stratum", "y")} <= set(found)
    assert len({parts[axis][key].members for axis, key in found}) == len(found)
    assert distinct({}) == []


def test_slices_of_omissions_hold_omissions_on_every_axis():
    omissions = {label.id for label in WIDE.labels if label.note_class.is_omission}
    for axis in AXES:
        for part in slices(WIDE, axis, "omission").values():
            assert part.members <= omissions


def test_a_mean_over_consultations_weighs_each_alike():
    table = build((9, [("omit", 10)] * 9), *[(9, [("omit", 8)])] * 3)
    assert consultation_mean(table) == 0.75
    assert consultation_mean(build((9, [("add", 8)]))) is None
    assert consultation_mean(build((9, [("omit", None)]))) is None
