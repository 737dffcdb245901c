import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.score_tables import build, maybe_scores, tables, with_scores

from heldout.gepa.statistics.agreement.replicates import (
    Spread,
    majority_table,
    paired_spread,
    strict_majority,
)
from heldout.gepa.statistics.rates.detection import threshold_flags


def test_a_tie_is_not_flagged():
    flags = [np.array([True, True, False]), np.array([True, False, False])]
    assert list(strict_majority(flags)) == [True, False, False]


@given(st.data(), tables(max_groups=3), st.integers(1, 5))
def test_the_majority_table_flags_as_the_majority_at_every_threshold(data, table, runs):
    size = len(table.labels)
    scores = st.lists(maybe_scores, min_size=size, max_size=size)
    replicates = [with_scores(table, data.draw(scores)) for _ in range(runs)]
    together = majority_table(replicates)
    for threshold in np.arange(0, 11.5, 0.5):
        each = [threshold_flags(replicate, threshold) for replicate in replicates]
        assert np.array_equal(threshold_flags(together, threshold), strict_majority(each))


def test_spread_is_highest_minus_lowest():
    runs = [build((9, [("omit", s)])) for s in (8, 9, 10)]
    spread = paired_spread(runs)
    assert spread == Spread.of((1.0, 0.5, 0.0))
    assert (spread.span, spread.mean) == (1.0, 0.5)
    assert Spread.of((0.5,)).span is None
    assert Spread.of((None, 0.25)).mean == 0.25
    assert Spread.of((None,)).mean is None
