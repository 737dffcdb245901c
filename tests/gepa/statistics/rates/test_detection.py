from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.score_tables import build, grid_scores, shuffled, tables, with_scores

from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import at_fixed_rule
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import (
    allowed_flags,
    chance_floor,
    swept,
)


def test_a_count_of_nothing_has_no_rate():
    assert Count(0, 0).rate is None
    assert Count(1, 4).rate == 0.25
    assert Count(3, 7).to_json() == {"k": 3, "n": 7}
    with pytest.raises(ValueError, match="is not a count"):
        Count(2, 1)


def brute_force(table, cap):
    """The rule of the sweep, read off word by word."""
    clean = [
        round(s, 9) for s, c in zip(table.scores, table.clean, strict=True) if c and s is not None
    ]
    errored = [
        round(s, 9)
        for s, o in zip(table.scores, table.omission, strict=True)
        if o and s is not None
    ]
    best = None
    grid = sorted({*clean, *errored})
    for t in [*grid, grid[-1] + 1] if grid else []:
        flagged = sum(s < t for s in clean)
        if flagged * 1000 > round(cap * 1000) * int(table.clean.sum()):
            continue
        found = sum(s < t for s in errored)
        if best is None or found > best[0]:
            best = (found, flagged, t)
    return best


@given(tables(max_groups=12), st.sampled_from([0.0, 0.05, 0.1, 0.29, 0.5, 1.0]))
def test_the_sweep_follows_its_rule(table, cap):
    found = swept(table, cap)
    best = brute_force(table, cap)
    assert found.detection.n == int(table.omission.sum())
    assert found.false_alarms.n == int(table.clean.sum())
    if best is None:
        assert (found.detection.k, found.false_alarms.k, found.threshold) == (0, 0, None)
    else:
        assert (found.detection.k, found.false_alarms.k, found.threshold) == best


@pytest.mark.parametrize(
    ("cap", "clean", "allowed"),
    [
        (0.1, 30, 3),
        (0.1, 20, 2),
        (0.1, 47, 4),
        (0.29, 100, 29),
        (0.07, 100, 7),
        (0.1, 9, 0),
        (1, 5, 5),
    ],
)
def test_the_cap_is_tested_in_whole_notes(cap, clean, allowed):
    # 0.29 * 100 is 28.999999999999996 in floats; a float test would lose one note.
    assert allowed_flags(cap, clean) == allowed
    assert chance_floor(cap, clean) == min(1, (allowed + 1) / (clean + 1))


def test_a_cap_outside_the_unit_interval_is_an_error():
    with pytest.raises(ValueError, match="is not in"):
        allowed_flags(1.5, 10)
    assert chance_floor(0.1, 0) is None


@given(tables(), st.randoms(use_true_random=False), st.integers(-50, 50))
def test_row_order_and_relabelling_change_nothing_but_the_threshold(table, random, shift):
    order = list(range(len(table.labels)))
    random.shuffle(order)
    assert swept(shuffled(table, order)) == swept(table)
    moved = with_scores(table, [None if s is None else s**3 + shift for s in table.scores])
    before, after = swept(table), swept(moved)
    assert (after.detection, after.false_alarms) == (before.detection, before.false_alarms)


def test_a_note_without_a_score_is_not_flagged_and_stays_in_the_denominator():
    table = build((9, [("omit", 1)]), (9, [("omit", None)]), (None, [("omit", 1)]))
    found = at_fixed_rule(Judged.once(table, threshold=5))
    assert found.detection == Count(2, 3)
    assert found.false_alarms == Count(0, 3)
    assert swept(table).detection == Count(2, 3)
    assert swept(build((None, [("omit", None)]))).threshold is None


def test_flags_of_the_design_are_counted_over_all_notes():
    table = build((9, [("omit", 1), ("add", 2)]), (8, [("weak", 3)]))
    flags = dict(
        zip([label.id for label in table.labels], [True, True, True, None, None], strict=True)
    )
    found = at_fixed_rule(Judged.once(table, flags))
    assert found.detection == Count(1, 2)
    assert found.false_alarms == Count(1, 2)
    with pytest.raises(ValueError, match="5 notes without a flag"):
        at_fixed_rule(Judged.once(table, {}))


@given(tables(grid_scores))
def test_a_frozen_threshold_detects_what_the_sweep_did(table):
    found = swept(table)
    again = at_fixed_rule(Judged.once(table, threshold=found.threshold))
    assert (again.detection, again.false_alarms) == (found.detection, found.false_alarms)


@pytest.mark.parametrize("clean", [20, 47])
def test_a_judge_with_no_signal_detects_the_chance_floor_on_average(clean):
    rng = np.random.default_rng(clean)
    labels = build(*[(0.0, [("omit", 0.0)] * 3)] * clean)
    rates = []
    for _ in range(2_000):
        order = rng.permutation(len(labels.labels)).astype(float)
        rates.append(swept(with_scores(labels, order.tolist())).detection.rate)
    error = np.std(rates, ddof=1) / len(rates) ** 0.5
    assert chance_floor(0.1, clean) == (floor(clean / 10) + 1) / (clean + 1)
    assert abs(np.mean(rates) - chance_floor(0.1, clean)) < 2 * error
