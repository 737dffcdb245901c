"""The study's shape comes out of plain mechanisms, on made notes and on the real pairs."""

import os
import statistics
from pathlib import Path

import pytest
from tests.benchmarks.simulated_judge import (
    CHECK_PLAIN,
    COLUMNS,
    PLAIN,
    block_of,
    checker,
    figures,
    placebo_spread,
    table_of,
    whole_note,
)

from heldout.splits.loading.benchmark_files import BenchmarkSource, load
from heldout.splits.synthetic import draw
from heldout.students.models.chat import Budget

SEVERAL = ("inventory", "fine score", "paraphrase", "partial")
STRICT = (*SEVERAL, "placement")


@pytest.fixture(scope="module")
def made():
    return draw(60, 17).benchmark


def judged(benchmark, skills, max_tokens, student=None, opening=PLAIN):
    table = table_of(
        student or whole_note(), block_of(skills, opening), benchmark, Budget(max_tokens)
    )
    return dict(zip(COLUMNS, figures(table), strict=True))


def test_a_plain_judge_sees_what_was_added_and_not_what_is_missing(made):
    plain = judged(made, (), 4000)
    assert 0.45 <= plain["omissions"] <= 0.57
    assert plain["commissions"] >= 0.7
    assert plain["add"] > plain["change"]


def test_an_inventory_is_useless_when_starved_and_strong_with_room(made):
    plain = judged(made, SEVERAL, 400)
    for tokens in (400, 600):
        assert judged(made, SEVERAL, tokens)["omissions"] <= plain["omissions"] + 0.05
    assert judged(made, SEVERAL, 1500)["omissions"] >= 0.75
    assert judged(made, SEVERAL, 1500)["complete"] >= 0.9


def test_commissions_do_not_fall_under_an_inventory_with_room(made):
    plain = judged(made, (), 1500)["commissions"]
    for skills in (("inventory",), ("inventory", "fine score"), SEVERAL):
        assert judged(made, skills, 1500)["commissions"] >= plain - 0.04


def test_each_trace_level_has_its_own_skill(made):
    bare = judged(made, ("inventory", "fine score", "paraphrase"), 4000)
    assert bare["complete"] >= 0.95
    assert bare["partial-weak"] <= 0.55 >= bare["partial-strong"]
    assert judged(made, SEVERAL, 4000)["partial-weak"] >= 0.75
    strict = judged(made, STRICT, 4000)
    assert strict["partial-strong"] >= 0.65
    assert strict["complete"] > strict["partial-weak"] > strict["partial-strong"] - 0.05


def test_changes_need_values_and_polarity(made):
    assert judged(made, ("values", "polarity"), 1500)["change"] >= (
        judged(made, (), 1500)["change"] + 0.15
    )


def test_the_checker_enumerates_by_design(made):
    plain = judged(made, (), 1500, checker(), CHECK_PLAIN)
    tolerant = judged(made, ("paraphrase",), 1500, checker(), CHECK_PLAIN)
    strict = judged(made, ("paraphrase", "partial"), 1500, checker(), CHECK_PLAIN)
    assert plain["omissions"] >= 0.58
    assert tolerant["complete"] > plain["complete"]
    assert strict["complete"] > strict["partial-weak"] > strict["partial-strong"]


def test_no_effect_means_no_difference(made):
    for skills in (("inventory",), STRICT):
        assert judged(made, skills, 1500, whole_note(0.0)) == judged(
            made, (), 1500, whole_note(0.0)
        )


def test_half_the_effect_lies_between(made):
    none, half, full = (
        judged(made, SEVERAL, 1500, whole_note(factor))["omissions"] for factor in (0.0, 0.5, 1.0)
    )
    assert none < half < full


def test_the_placebo_spreads_as_published_runs_did(made):
    # Three runs of one prompt on 131 omissions gave 0.531 to 0.649; three draws of a normal
    # variable lie 1.7 standard deviations apart on average.
    spread = placebo_spread(made, 16)
    assert 0.03 <= statistics.stdev(spread) <= 0.1
    assert 0.45 <= statistics.mean(spread) <= 0.62


def test_real_pairs():
    folder = os.environ.get("HELDOUT_DATA")
    if not folder:
        pytest.skip("HELDOUT_DATA is not set: no real pairs")
    real = load(
        BenchmarkSource(
            Path(folder) / "real_pairs.jsonl.gz", Path(folder) / "consultations.jsonl.gz"
        )
    )
    plain, starved, full = (
        judged(real, skills, tokens)
        for skills, tokens in (((), 4000), (SEVERAL, 600), (SEVERAL, 4000))
    )
    assert 0.42 <= plain["omissions"] <= 0.57
    assert plain["commissions"] >= 0.58
    assert starved["omissions"] <= plain["omissions"] + 0.06
    assert full["omissions"] >= 0.65
    assert full["complete"] > full["partial-weak"] > full["partial-strong"]
