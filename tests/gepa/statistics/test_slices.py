import numpy as np
import pytest
from tests.support.score_tables import build

from heldout.gepa.statistics.slices import AXES, all_slices, paired_interval, slices

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
