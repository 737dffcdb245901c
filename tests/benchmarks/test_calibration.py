import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.benchmarks.calibration import (
    Draws,
    Null,
    calibrate,
    campaign_tables,
    noise_levels,
    rows,
    table_text,
    verdict_text,
)
from tests.benchmarks.nulls import (
    Pool,
    exactly,
    exchanged,
    few_ties,
    flipped,
    left_skewed,
    lognormal,
    one_giant,
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
        few_ties(25, 20_000, generator("b")),
        exchanged(RUNS, 25, 20_000, generator("c")),
        left_skewed(25, 20_000, generator("d")),
        exactly(4, 25, 20_000, generator("e")),
        one_giant(25, 20_000, generator("f")),
        lognormal(25, 20_000, generator("g")),
    ],
    ids=["flipped", "ties", "exchanged", "skewed", "four", "giant", "lognormal"],
)
def test_nothing_changed_in_any_null(data: ClusterSums) -> None:
    error = data.mean.std(ddof=1) / len(data.sums) ** 0.5
    assert abs(data.mean.mean()) < 3 * error
    assert (data.sizes > 0).all()


SMALL = Draws(resampled=2_000, cheap=4_000)


@pytest.mark.parametrize(
    ("name", "null"),
    [("15% ties", few_ties), ("one of 40 pairs", one_giant), ("exactly 4", partial(exactly, 4))],
)
def test_the_default_rule_holds_its_level_where_groups_are_uneven_or_few_differ(
    name: str, null: Null
) -> None:
    row = calibrate(name, null, 20, SMALL, generator("level", name))
    assert row.excess("studentised") < 3
    assert row.shipped["point"].value > 0.25
    assert verdict_text([row]).endswith("in every row")
    if name != "15% ties":
        assert row.excess("interval") > 3


def test_a_left_skew_exceeds_the_level_and_is_said_to() -> None:
    row = calibrate("left skew", left_skewed, 20, SMALL, generator("skew"))
    assert row.skewness < -1
    assert row.excess("studentised") > 3
    assert "left skew, 20, by +0.0" in verdict_text([row])
    assert f"| left skew, 20 | {row.shipped['studentised'].value:.4f}" in table_text([row])


def test_rules_that_resample_see_fewer_data_sets_and_a_stopped_run_goes_on(tmp_path: Path) -> None:
    asked: list[int] = []

    def null(consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
        asked.append(draws)
        return few_ties(consultations, draws, rng)

    draws = Draws(resampled=100, cheap=400)
    first = list(rows({"a/b": null}, draws, 1, tmp_path))
    assert asked == [400] * 3
    assert (draws.of("studentised"), draws.of("interval")) == (100, 400)
    assert list(rows({"a/b": null}, draws, 1, tmp_path)) == first
    assert asked == [400] * 3


def test_noise_of_whole_runs_breaks_the_plain_interval_and_not_the_one_that_allows_for_it() -> None:
    plain, allowed = noise_levels(112, 4_000, generator("runs"), replicates=3, run_sd=0.042)
    assert plain.value > 0.05
    assert allowed.value < 0.036


@needs_data
def test_the_default_rule_holds_its_level_on_published_differences() -> None:
    labels = scores(CANDIDATES[0]).labels
    pool = Pool.of([scores(name).in_order_of(labels) for name in CANDIDATES])
    rng = generator("published")
    row = calibrate("flipped signs", partial(flipped, pool), 20, SMALL, rng)
    assert row.excess("studentised") < 0 < row.shipped["studentised"].value


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
