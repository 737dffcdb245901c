import numpy as np
import pytest
from tests.support.score_tables import build

from heldout.gepa.statistics.rates.paired import Paired
from heldout.gepa.statistics.slices import AXES, all_slices, paired_interval, slices

WIDE = build(*[(9, [("omit", 8), ("weak", 9), ("add", 10)])] * 12, strata=("x", "y"))


def test_each_axis_has_its_keys_and_support():
    keys = {axis: {part.key: part for part in slices(WIDE, axis)} for axis in AXES}
    assert set(keys["class"]) == {"omit-complete", "omit-partial", "add"}
    assert set(keys["trace"]) == {"complete", "partial-weak"}
    assert set(keys["severity"]) == {"critical", "supporting"}
    assert set(keys["stratum"]) == {"x", "y"}
    assert set(keys["source"]) == {"hand"}
    assert keys["class"]["add"].pairs == Paired(0, 0, 12)
    assert keys["class"]["omit-complete"].value == 1
    assert keys["stratum"]["x"].consultations == 6


def test_slices_of_a_comparison_do_not_mix_classes():
    parts = {(part.axis, part.key): part for part in all_slices(WIDE)}
    assert parts["stratum", "x"].pairs == Paired(6, 6, 0)
    assert ("class", "add") in parts


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
    part = slices(table, "trace")[0]
    assert (part.interval is not None) == shown
    body = part.to_json()
    assert (body["paired"] is not None) == (body["interval"] is not None) == shown
    assert body["wins"] == part.pairs.n


def test_the_interval_of_one_table_lies_in_the_unit_range():
    found = paired_interval(WIDE)
    assert found.estimate == 0.75
    assert 0 <= found.low < 0.75 < found.high <= 1
    assert paired_interval(build((9, [("add", 8)]))) is None
    assert paired_interval(WIDE, np.zeros(len(WIDE.labels), dtype=bool)) is None
