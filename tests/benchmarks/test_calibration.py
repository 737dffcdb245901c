import json
from pathlib import Path

import numpy as np
import pytest
from tests.benchmarks.calibration import (
    ALPHA,
    Pool,
    alternatives_text,
    assumed,
    calibrate,
    campaign_tables,
    exchanged,
    flipped,
    left_skewed,
    table_text,
    verdict_text,
)
from tests.support.published import CANDIDATES, needs_data, scores
from tests.support.score_tables import build, with_scores

from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import generator

RNG = np.random.default_rng(3)
TABLE = build(*[(9, [("omit", 8), ("omit", 9), ("weak", 8)])] * 30)
RUNS = [
    with_scores(TABLE, (np.array(TABLE.scores) + RNG.normal(0, 1, 120)).tolist()) for _ in range(4)
]


@pytest.mark.parametrize(
    "data",
    [
        flipped(Pool.of(RUNS), 25, 20_000, generator("a")),
        assumed(25, 20_000, generator("b")),
        exchanged(RUNS, 25, 20_000, generator("c")),
        left_skewed(25, 20_000, generator("d")),
    ],
    ids=["flipped", "assumed", "exchanged", "skewed"],
)
def test_nothing_changed_in_any_null(data: ClusterSums) -> None:
    error = data.mean.std(ddof=1) / len(data.sums) ** 0.5
    assert abs(data.mean.mean()) < 3 * error
    assert (data.sizes > 0).all()


@pytest.mark.parametrize("consultations", [20, 47])
def test_the_default_rule_holds_its_level_on_symmetric_differences(consultations: int) -> None:
    rng = generator("level", consultations)
    row = calibrate("assumed", assumed(consultations, 4_000, rng), rng)
    assert row.holds("interval")
    assert not row.holds("point")
    assert row.shipped["point"].value > 0.4
    assert "holds" in verdict_text([row])


def test_a_left_skew_exceeds_the_level_and_is_said_to() -> None:
    rng = generator("skew")
    row = calibrate("left skew", left_skewed(20, 4_000, rng), rng)
    assert row.skewness < -1
    assert not row.holds("interval")
    assert "exceeds by +0.0" in verdict_text([row])
    # Correcting for skewness helps here, and costs the level where there is none.
    for name in ("Johnson", "Hall"):
        assert row.alternatives[name].value < row.shipped["interval"].value
    for name in ("leverage", "jackknife"):
        assert abs(row.alternatives[name].value - row.shipped["interval"].value) < 0.005
    assert "| left skew, 20 |" in alternatives_text([row])
    assert f"| left skew, 20 | {row.shipped['interval'].value:.4f}" in table_text([row])


@needs_data
def test_the_default_rule_holds_its_level_on_published_differences() -> None:
    labels = scores(CANDIDATES[0]).labels
    pool = Pool.of([scores(name).in_order_of(labels) for name in CANDIDATES])
    rng = generator("published")
    row = calibrate("flipped signs", flipped(pool, 20, 4_000, rng), rng)
    assert row.holds("interval")
    assert row.shipped["interval"].value < ALPHA


def test_more_consultations_than_were_judged_are_an_error() -> None:
    with pytest.raises(ValueError, match="31 consultations wanted, 30 were judged"):
        exchanged(RUNS, 31, 10, generator("e"))


def test_every_candidate_of_a_campaign_file_is_read(tmp_path: Path) -> None:
    scored = {"a|1|clean|x": 9, "a|1|omit|err": 8, "b|2|clean|x": 9, "b|2|omit|err": 8}
    turned = dict(reversed(scored.items()))
    pool = [{"id": 0, "name": "p", "scores": scored}, {"id": 1, "name": "q", "scores": turned}]
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps({"pool": pool}))
    first, second = campaign_tables(path)
    assert first == second
    assert np.array_equal(Pool.of([first, second]).sums, np.zeros((1, 2)))
