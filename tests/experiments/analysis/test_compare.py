import json
from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given, settings
from rich.console import Console
from tests.support.notes import benchmark
from tests.support.published import needs_data, scores
from tests.support.score_tables import build, table_pairs, with_scores

from heldout.experiments.analysis.compare import CompareSettings, compare
from heldout.experiments.analysis.compare_table import headings, render
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import CleanMeans

SETTINGS = CompareSettings(seed=3)


def printed(result):
    console = Console(file=StringIO(), width=160)
    console.print(render(result))
    return console.file.getvalue()


def intervals(value):
    """Every interval anywhere in the JSON of a comparison."""
    if isinstance(value, dict):
        if {"low", "high", "method"} <= set(value):
            yield value
        for part in value.values():
            yield from intervals(part)
    if isinstance(value, list):
        for part in value:
            yield from intervals(part)


def whole(candidate, baseline, **options):
    return compare(candidate, baseline, SETTINGS, names=("ours", "theirs"), **options)


@needs_data
def test_the_published_accept_comparison():
    body = plain(whole(scores("v3p-01"), scores("seed_check_binary")))
    assert body["n"] == {"omissions": 48, "commissions": 37, "clean": 20, "consultations": 20}
    ours, theirs = body["candidate"], body["baseline"]
    assert (ours["paired_omissions"], round(theirs["paired_omissions"], 6)) == (0.84375, 0.791667)
    assert (theirs["wins"], theirs["ties"], theirs["losses"]) == (31, 14, 3)
    assert ours["swept"]["detection"] == {"k": 16, "n": 48}
    assert ours["swept"]["false_alarms"] == {"k": 1, "n": 20}
    assert ours["at_rule"] is None
    assert round(theirs["by_trace"]["complete"]["paired"], 4) == 0.9074
    assert theirs["by_trace"]["partial-strong"]["wins"] == 2
    assert body["sign_test"]["p"] == pytest.approx(0.22656, abs=5e-6)
    assert (body["sign_test"]["wins"], body["sign_test"]["losses"]) == (8, 3)
    flags = body["mcnemar"]
    assert (flags["candidate_only"], flags["baseline_only"], flags["p"]) == (0, 0, 1)
    assert body["difference"]["estimate"] == pytest.approx(0.0521, abs=5e-5)


def test_the_json_has_the_keys_of_the_contract():
    table = build(*[(9, [("omit", 8), ("weak", 9), ("add", 10)])] * 12)
    body = json.loads(json.dumps(plain(whole(table, table)), allow_nan=False))
    assert {"n", "candidate", "baseline", "difference", "sign_test", "mcnemar"} <= set(body)
    for side in (body["candidate"], body["baseline"]):
        assert {
            "paired_omissions", "paired_commissions", "at_rule", "swept", "violations",
            "wins", "ties", "losses", "by_trace",
        } <= set(side)  # fmt: skip
        assert {"detection", "false_alarms", "threshold"} <= set(side["swept"])
    assert set(body["difference"]) == {"estimate", "low", "high", "level", "method"}
    assert {"wins", "losses", "p"} <= set(body["sign_test"])
    assert {"candidate_only", "baseline_only", "p"} <= set(body["mcnemar"])


@settings(max_examples=40, deadline=None)
@given(table_pairs(max_groups=6))
def test_any_two_tables_are_compared_and_printed(pair):
    result = whole(*pair)
    body = plain(result)
    json.dumps(body, allow_nan=False)
    assert [i for i in intervals(body) if not i["low"] < i["high"]] == []
    assert "word-count control" in printed(result)


@settings(max_examples=15, deadline=None)
@given(table_pairs(min_groups=2, max_groups=6))
def test_row_order_of_the_baseline_changes_nothing(pair):
    ours, theirs = pair
    turned = ScoreTable(theirs.labels[::-1], theirs.scores[::-1])
    assert plain(whole(ours, turned)) == plain(whole(ours, theirs))


def test_exchanging_the_sides_exchanges_the_counts():
    ours = build(*[(9, [("omit", s)]) for s in (8, 8, 8, 9, 10)])
    theirs = with_scores(ours, [9] * 10)
    there, back = (plain(whole(*sides)) for sides in ((ours, theirs), (theirs, ours)))
    assert there["difference"]["estimate"] == -back["difference"]["estimate"]
    assert there["sign_test"]["wins"] == back["sign_test"]["losses"] == 3
    assert there["mcnemar"]["candidate_only"] == back["mcnemar"]["baseline_only"]


def test_the_word_count_control_stands_beside_where_texts_are_known():
    made = benchmark(6)
    labels = [note.label for c in made for note in c.notes]
    words = {note.id: float(len(note.text.split())) for c in made for note in c.notes}
    flat = ScoreTable.of(labels, dict.fromkeys(words, 5.0))
    result = whole(flat, ScoreTable.of(labels, words), benchmark=made)
    body = plain(result)
    assert body["word_count"]["paired_omissions"] == body["baseline"]["paired_omissions"] > 0.9
    assert body["baseline"]["follows_length"] == pytest.approx(1)
    assert body["candidate"]["follows_length"] is None
    text = printed(result)
    assert "word count" in text
    assert "follows note length" in text
    assert plain(whole(flat, flat))["word_count"] is None
    assert "give --benchmark" in printed(whole(flat, flat))


def test_only_verified_clean_notes_can_be_false_alarms():
    table = build(*[(9, [("omit", 8)])] * 3)
    unedited = printed(whole(table, table))
    assert "flags on unedited notes" in unedited
    assert "false alarms" not in unedited
    verified = printed(replace(whole(table, table), clean_means=CleanMeans.VERIFIED))
    assert "false alarms" in verified


def test_columns_have_short_names_unless_they_are_the_same():
    assert headings(["runs/c.json#v3p-01", "runs/c.json#seed"]) == ["v3p-01", "seed"]
    assert headings(["a/scores.json", "b/plain.csv", "word count"])[0] == "scores.json"
    assert headings(["a/scores.json", "b/scores.json"]) == ["a/scores.json", "b/scores.json"]


def test_missing_figures_print_as_na():
    table = build((None, [("add", None)]))
    text = printed(whole(table, table))
    assert "na (0 pairs)" in text
    assert "na (nothing to compare)" in text


def test_small_slices_print_counts():
    table = build(*[(9, [("omit", 8)])] * 4)
    assert "4 / 0 / 0" in printed(whole(table, table))


@pytest.mark.parametrize(
    "scores",
    [(8, 8), (9, 9), (10, 10), (8, 10), (None, 8)],
    ids=["all won", "all tied", "all lost", "each half", "half unanswered"],
)
@pytest.mark.parametrize("consultations", [1, 2, 5, 20])
def test_no_interval_has_a_width_of_zero_and_one_consultation_shows_none(scores, consultations):
    ours = build(*[(9, [("omit", s) for s in scores])] * consultations)
    theirs = with_scores(ours, [9] * len(ours.scores))
    result = whole(ours, theirs)
    body = plain(result)
    found = list(intervals(body))
    assert [i for i in found if i["high"] - i["low"] < 1e-6] == []
    if consultations > 1:
        assert body["candidate"]["paired_interval"]
        return
    assert body["candidate"]["paired_interval"] is None
    assert body["candidate"]["swept"]["interval"] is None
    assert {i["method"] for i in found} == {"none (one consultation)"}
    text = printed(result)
    assert "no interval: one consultation" in text
    assert "[-1.000" not in text


def test_consultations_weighted_alike_stand_beside_pairs_weighted_alike():
    # One consultation of nine lost pairs beside three of one won pair each.
    ours = build((9, [("omit", 10)] * 9), *[(9, [("omit", 8)])] * 3)
    theirs = with_scores(ours, [9] * len(ours.scores))
    body = plain(whole(ours, theirs))
    assert body["candidate"]["paired_omissions"] == 0.25
    assert body["candidate"]["consultation_weighted"] == 0.75
    assert body["difference"]["estimate"] == pytest.approx((3 - 9) / 24)
    assert body["consultation_weighted"] == 0.25
    text = printed(whole(ours, theirs))
    assert "each consultation weighted alike: +0.250" in text
    assert "consultations weighted alike" in text
    assert plain(whole(*[build((9, [("add", 8)]))] * 2))["consultation_weighted"] is None


def test_a_slice_is_not_printed_under_two_names():
    # Complete omissions are a trace level and a class; here they are also all of severity x.
    table = build(*[(9, [("omit", 8), ("weak", 9), ("add", 10)])] * 12)
    text = printed(whole(table, table))
    assert text.count(" trace: complete ") == 1
    assert "class: omit-complete" not in text
    assert "class: omit-partial" not in text
    assert "class: add" in text
    assert "by_class" in plain(whole(table, table))["candidate"]
