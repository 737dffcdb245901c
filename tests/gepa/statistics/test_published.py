"""Published figures that follow from per-note scores or counts (rows R and C of the record).

What can only be read, not recomputed, is in no test.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.published import CANDIDATES, needs_data, published, scores

from heldout.gepa.frontier import raw_reward
from heldout.gepa.reward import rank_reward
from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.intervals.interval import wilson
from heldout.gepa.statistics.intervals.resampling import (
    bootstrap_interval,
    bootstrap_means,
    generator,
)
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import at_fixed_rule
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import swept, threshold_flags
from heldout.gepa.statistics.rates.paired import Paired, paired
from heldout.gepa.statistics.selection import rows_of
from heldout.gepa.statistics.table import ScoreTable
from heldout.gepa.statistics.tests.exact import mcnemar_tests, sign_tests, two_proportion_z
from heldout.splits.benchmark import NoteClass, TraceLevel

pytestmark = needs_data

CAMPAIGN = published("published/pipeline_campaign.json")
RESULTS = published("published/campaign_results.json")
TABLES = published("published/tables.json")
POOL = CAMPAIGN.get("pool", [])
SEED, WINNER = "seed_check_binary", "v3p-01"

SLICES = {
    "paired_omit": "omission",
    "paired_complete": TraceLevel.COMPLETE,
    "paired_partial_weak": TraceLevel.PARTIAL_WEAK,
    "paired_partial_strong": TraceLevel.PARTIAL_STRONG,
    "paired_commissions": "commission",
    "paired_add": NoteClass.ADD,
    "paired_change": NoteClass.CHANGE,
}
DETECTIONS = {
    "det10": "omission",
    "det10_complete": NoteClass.OMIT_COMPLETE,
    "det10_partial": NoteClass.OMIT_PARTIAL,
    "det10_addchange": "commission",
}


def check_vec(table: ScoreTable, vec: dict) -> None:
    """Every figure of a published record of one candidate on one set."""
    for name, select in SLICES.items():
        assert paired(table, select).value == pytest.approx(vec[name], abs=1e-3), name
    found = swept(table)
    assert round(found.threshold, 6) == pytest.approx(vec["thr10"], abs=1e-6)
    assert found.false_alarms.rate == pytest.approx(vec["fa10"], abs=1e-3)
    for name, select in DETECTIONS.items():
        flagged = threshold_flags(table, found.threshold)[rows_of(table, select)]
        assert flagged.mean() == pytest.approx(vec[name], abs=1e-3), name
    assert np.mean(table.values[table.clean]) == pytest.approx(vec["mean_clean"], abs=1e-6)
    assert np.mean(table.values[table.omission]) == pytest.approx(vec["mean_omit"], abs=1e-6)
    assert (len(table.labels), int(table.clean.sum()), int(table.omission.sum())) == (
        vec["n_judged"],
        vec["n_clean"],
        vec["n_omit"],
    )


@pytest.mark.parametrize("position", range(9), ids=CANDIDATES)
def test_every_candidate_on_accept(position):
    assert POOL[position]["name"] == CANDIDATES[position]
    check_vec(scores(CANDIDATES[position]), POOL[position]["vec"])


def test_the_winner_on_heldout():
    table = scores(f"{WINNER}@heldout")
    check_vec(table, CAMPAIGN["test"]["1"]["vec"])
    assert round(paired(table).value, 6) == 0.778626
    assert (swept(table).detection, swept(table).false_alarms) == (Count(22, 131), Count(4, 47))
    # The threshold its accept set would have frozen flags more than the cap allows.
    frozen = at_fixed_rule(Judged.once(table, threshold=0.909))
    assert (frozen.detection, frozen.false_alarms) == (Count(30, 131), Count(6, 47))


def test_seed_and_winner_on_accept():
    seed, winner = scores(SEED), scores(WINNER)
    assert paired(seed) == Paired(31, 14, 3)
    assert round(paired(seed).value, 6) == 0.791667
    assert paired(winner).value == 0.84375
    assert (swept(seed).detection, swept(seed).false_alarms) == (Count(16, 48), Count(2, 20))
    assert (swept(winner).detection, swept(winner).false_alarms) == (Count(16, 48), Count(1, 20))
    levels = [paired(seed, level).value for level in TraceLevel]
    assert [round(value, 4) for value in levels] == [0.9074, 0.6923, 0.5625]
    assert round(paired(seed, "commission").value, 4) == 0.5811


def test_the_difference_on_accept():
    seed, winner = scores(SEED), scores(WINNER)
    data = difference(winner, seed)
    assert round(100 * data.estimate, 2) == 5.21
    rows = sign_tests(data)
    assert (rows.wins, rows.losses, round(rows.p, 5)) == (8, 3, 0.22656)
    draws = bootstrap_means(data.sums, generator(1), resamples=10_000)
    interval = bootstrap_interval(data.sums, draws)
    assert 100 * interval.low == pytest.approx(-4.2, abs=1)
    assert 100 * interval.high == pytest.approx(16.2, abs=1)


def test_mcnemar_on_accept():
    flags = []
    labels = scores(WINNER).labels
    for name in (WINNER, SEED):
        table = scores(name).in_order_of(labels)
        below = table.rounded < swept(table).threshold
        flags.append(below[table.omission])
    found = mcnemar_tests(*flags, table.cluster[table.omission])
    assert (found.candidate_only, found.baseline_only, found.p) == (0, 0, 1)


@pytest.mark.parametrize("position", [0, 1])
def test_rewards_by_the_studys_formula(position):
    table = scores(CANDIDATES[position])
    reward = rank_reward((0.0, 1.0))
    by_id = {label.id: score for label, score in zip(table.labels, table.scores, strict=True)}
    recorded = POOL[position]["rewards"]
    assert set(recorded) == set(by_id)
    for label in table.labels:
        assert reward.of(label, by_id) == pytest.approx(recorded[label.id], abs=1e-3)


def test_parents_lead_as_many_notes_as_recorded():
    tables = [scores(name) for name in CANDIDATES]
    labels = tables[0].labels
    by_id = [dict(zip([x.id for x in t.labels], t.scores, strict=True)) for t in tables]
    values = np.stack([raw_reward(labels, rank_reward((0.0, 1.0)))(s) for s in by_id])
    entered = 1
    for step in CAMPAIGN["history"]:
        pool = values[:entered]
        leads = int((pool[step["parent"]] >= pool.max(axis=0)).sum())
        assert leads == step["parent_leads"], step["iter"]
        entered += step["outcome"] == "accepted"
    assert entered == len(POOL)


@pytest.mark.parametrize(
    ("name", "sizes"), [(WINNER, (20, 85, 105)), (f"{WINNER}@heldout", (47, 151, 198))]
)
def test_sizes_are_counted_from_the_keys(name, sizes):
    table = scores(name)
    errored = int(rows_of(table, "errored").sum())
    assert (len({x.consultation for x in table.labels}), errored, len(table.labels)) == sizes


@pytest.mark.parametrize(
    ("detection", "alarms", "z"),
    [((22, 131), (4, 47), 1.38), ((21, 131), (4, 47), 1.27), ((27, 131), (1, 47), 2.99)],
)
def test_detection_against_false_alarms(detection, alarms, z):
    assert round(two_proportion_z(Count(*detection), Count(*alarms)), 2) == z


def counted_rows():
    """Rows of the published tables that hold detection and false-alarm counts with their z."""
    grid = [(row["code"], row) for row in TABLES["t4_grid"]["rows"]]
    levers = list(TABLES["t5_levers"]["wording_family"].items())
    return [(name, row) for name, row in grid + levers if row.get("z") is not None]


def test_every_counted_row_has_its_z():
    rows = counted_rows()
    assert len(rows) == 11
    for name, row in rows:
        found = two_proportion_z(Count(row["det_k"], row["det_n"]), Count(row["fa_k"], row["fa_n"]))
        digits = len(str(row["z"]).split(".")[1])
        assert round(found, digits) == row["z"], name


def nested(value, path=""):
    """Every dict inside a published table, with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, part in value.items():
            yield from nested(part, f"{path}.{key}")
    if isinstance(value, list):
        for place, part in enumerate(value):
            yield from nested(part, f"{path}[{place}]")


def test_every_published_wilson_bound_follows_from_its_count():
    found = [
        (path, row["k"], row.get("n"), row["wilson"])
        for path, row in nested(TABLES)
        if isinstance(row.get("wilson"), list)
    ]
    sizes = {"partial-strong": 61, "partial-weak": 87}
    assert len(found) >= 13
    for path, k, given, (low, high) in found:
        n = given if given is not None else next(v for key, v in sizes.items() if key in path)
        scale, digits = (100, 1) if high > 1 else (1, 4)
        interval = wilson(Count(k, n))
        assert round(scale * interval.low, digits) == low, path
        assert round(scale * interval.high, digits) == high, path


def test_upper_bound_of_the_per_fact_rule_on_restatements():
    row = TABLES["f5_trace"]["per_fact_rule"]["held-out"]
    high = wilson(Count(row["strong_k"], row["strong_n"])).high
    assert round(100 * high, 1) == row["strong_wilson_hi_pct"]


def test_z_of_the_per_fact_rule():
    rule = TABLES["per_fact_rule"]
    for row, z in (
        (rule["held_out_per_replicate"]["1"], rule["held_out_r1_z"]),
        (rule["eval_r1"], rule["eval_r1"]["z"]),
    ):
        found = two_proportion_z(
            Count(**pick(row["detection"])), Count(**pick(row["false_alarms"]))
        )
        assert round(found, 3) == z


def pick(count):
    return {"k": count["k"], "n": count["n"]}


def test_rates_of_the_campaign_table_follow_from_their_counts():
    leg = TABLES["t8_gepa"]["leg_A"]
    rows = [*leg["acceptance"][:2], leg["held-out"][1]]
    assert [row["row"] for row in rows] == ["seed", "winner v3p-01", "winner v3p-01"]
    for row in rows:
        assert round(Count(row["det_k"], row["det_n"]).rate, 6) == row["det_at_fa10"]
        assert round(Count(row["fa_k"], row["fa_n"]).rate, 6) == row["fa"]


def test_shares_of_the_survivors_location():
    for level, n in (("partial-strong", 61), ("partial-weak", 87)):
        row = TABLES["f5_trace"]["survivor_location"][level]
        for place in ("different_section", "same_section"):
            assert round(100 * Count(row[place]["k"], n).rate, 1) == row[place]["pct"]


def test_deltas_of_the_levers_follow_from_the_grid():
    exact = {r["code"]: r["paired_omissions_exact"] for r in TABLES["t4_grid"]["rows"]}
    for lever in TABLES["t5_levers"]["levers"].values():
        deltas = [exact[pair["to"]] - exact[pair["from"]] for pair in lever["pairs"]]
        printed = [pair["delta"] for pair in lever["pairs"]]
        assert [round(d, 4) for d in deltas] == printed
        assert round(min(deltas), 3) == lever["min"]
        assert round(max(deltas), 3) == lever["max"]
        assert round(float(np.mean(deltas)), 3) == lever["mean"]


def test_published_accept_intervals_and_z_of_the_campaign():
    comparison = RESULTS["legs"]["pipeline"]["valid"]["winner_vs_baseline"]
    rows = [comparison["candidate"], comparison["baseline"]]
    for row in rows:
        interval, ci = wilson(Count(row["det_ci"]["k"], row["det_ci"]["n"])), row["det_ci"]
        assert (round(interval.low, 4), round(interval.high, 4)) == (ci["lo"], ci["hi"])
        alarms = Count(round(row["fa10"] * row["n_clean"]), row["n_clean"])
        z = two_proportion_z(Count(ci["k"], ci["n"]), alarms)
        assert round(z, 3) == row["det_vs_fa_z"]["z"]
        detail = row["paired"]
        counts = Paired(detail["wins"], detail["ties"], detail["losses"])
        assert (counts.n, round(counts.value, 4)) == (detail["n"], detail["paired"])
