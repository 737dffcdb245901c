import numpy as np
import pytest
from hypothesis import given, settings
from tests.support.score_tables import build, table_pairs, tables

from heldout.gepa.statistics.intervals.resampling import cluster_draws, generator
from heldout.gepa.statistics.intervals.swept_bootstrap import swept_difference, swept_interval
from heldout.gepa.statistics.rates.detection import swept
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import NoteLabel


def resampled(table, drawn):
    """The table of the consultations drawn, each as often as it was drawn."""
    labels, scores = [], []
    for copy, cluster in enumerate(drawn):
        for row in np.flatnonzero(table.cluster == cluster):
            label = table.labels[row]
            new = f"{copy}|{label.id}", f"{copy}|{label.consultation}"
            labels.append(
                NoteLabel(
                    *new, label.stratum, label.note_class, f"{copy}|{label.twin}", label.trace
                )
            )
            scores.append(table.scores[row])
    return ScoreTable(tuple(labels), tuple(scores))


@settings(max_examples=25)
@given(tables(min_groups=2, max_groups=12))
def test_each_resample_chooses_its_threshold_again(table):
    groups, n = int(table.cluster.max()) + 1, 40
    if not table.omission.any():
        assert swept_interval(table, generator(1), resamples=n) is None
        return
    draws = cluster_draws(groups, n, generator(1))
    rates = [swept(resampled(table, drawn), 0.2).detection.rate for drawn in draws]
    known = np.array([rate for rate in rates if rate is not None])
    found = swept_interval(table, generator(1), cap=0.2, resamples=n)
    low, high = np.quantile(known, [0.025, 0.975])
    if low == high == found.estimate:
        assert found.high > found.low
        return
    assert found.low == pytest.approx(min(low, found.estimate))
    assert found.high == pytest.approx(max(high, found.estimate))


@settings(max_examples=40)
@given(table_pairs(min_groups=2))
def test_exchanging_the_sides_turns_the_interval_round(pair):
    there = swept_difference(*pair, generator(2), resamples=200)
    back = swept_difference(*reversed(pair), generator(2), resamples=200)
    if there is None:
        assert back is None
    else:
        assert (there.low, there.estimate, there.high) == pytest.approx(
            (-back.high, -back.estimate, -back.low)
        )
        assert -1 <= there.low <= there.estimate <= there.high <= 1


def test_a_frozen_threshold_would_hide_most_of_the_uncertainty():
    rng = np.random.default_rng(6)
    table = build(*[(float(c), [("omit", float(e)) for e in rng.normal(-0.5, 1, 3)])
                    for c in rng.normal(0, 1, 20)])  # fmt: skip
    full = swept_interval(table, generator(3), resamples=4_000)
    threshold = swept(table).threshold
    hits = np.array([s < threshold for s in table.values[table.omission]], dtype=float)
    draws = cluster_draws(20, 4_000, generator(3))
    frozen = np.quantile(hits.reshape(20, 3).mean(axis=1)[draws].mean(axis=1), [0.025, 0.975])
    assert full.high - full.low > 1.3 * (frozen[1] - frozen[0])
    assert "re-chosen" in full.method
