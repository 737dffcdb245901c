import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.notes import benchmark

from heldout.experiments.judging.costs import JudgingCost
from heldout.experiments.practice.combining import (
    Flagger,
    combinations,
    escalation,
    majority,
    union,
)
from heldout.experiments.practice.rungs import RungResult
from heldout.gepa.statistics.table import ScoreTable

LABELS = tuple(note.label for c in benchmark(4) for note in c.notes)
SCORES = st.lists(
    st.one_of(st.none(), st.sampled_from([6.0, 7.5, 9.0, 10.0])),
    min_size=len(LABELS),
    max_size=len(LABELS),
)


def cost(usd=0.01, completion=100.0):
    return JudgingCost(1.0, 1000.0, completion, 0.0, usd, 0.5)


def result(*runs, usd=0.01):
    tables = tuple(ScoreTable(LABELS, tuple(scores)) for scores in runs)
    flags = tuple(
        {x.id: None if s is None else s <= 7 for x, s in zip(LABELS, t.scores, strict=True)}
        for t in tables
    )
    return RungResult(tables, flags, cost(usd))


def rows(found, kind, basis="rule"):
    return {c.name: c for c in found if c.kind == kind and c.basis == basis}


@given(SCORES, SCORES, SCORES, SCORES)
def test_unions_find_at_least_and_escalations_at_most_what_their_parts_find(a, b, c, d):
    blocks = {"low": result(a), "high": result(b)}
    controls = {"low": result(c), "high": result(d)}
    found = combinations(blocks, controls, 0.1, "omission")
    single = rows(found, "single")
    either = rows(found, "union")["low or control, low"]
    then = rows(found, "escalation")["low, then high"]
    for measure in ("detection", "false_alarms"):
        k = {name: getattr(row, measure).k for name, row in single.items()}
        assert getattr(either, measure).k >= max(k["low"], k["control, low"])
        assert getattr(then, measure).k <= min(k["low"], k["high"])


def test_a_majority_needs_more_than_half_and_pays_every_replicate():
    quiet, loud = [9.0] * len(LABELS), [6.0] * len(LABELS)
    two_of_three = majority("low", result(loud, loud, quiet), "rule", 0.1, "omission")
    one_of_three = majority("low", result(loud, quiet, quiet), "rule", 0.1, "omission")
    assert two_of_three.flags.all()
    assert not one_of_three.flags.any()
    assert two_of_three.cost.usd == pytest.approx(0.03)
    assert (
        majority("low", result(loud, loud, quiet, quiet), "rule", 0.1, "omission").flags.sum() == 0
    )


def test_an_escalation_pays_the_second_judge_for_what_the_first_flags():
    half = [6.0 if k % 2 else 9.0 for k in range(len(LABELS))]
    cheap, dear = result(half, usd=0.01), result([6.0] * len(LABELS), usd=0.1)
    found = combinations({"cheap": cheap, "dear": dear}, {"cheap": cheap, "dear": dear}, 0.1,
                         "omission")  # fmt: skip
    led = rows(found, "escalation")["cheap, then dear"]
    share = sum(k % 2 for k in range(len(LABELS))) / len(LABELS)
    assert led.cost.usd == pytest.approx(0.01 + share * 0.1)
    single = rows(found, "single")["cheap"]
    assert led.detection == single.detection


def test_unknown_costs_stay_unknown():
    scores = [9.0] * len(LABELS)
    known, unknown = result(scores), result(scores, usd=None)
    found = combinations({"low": known}, {"low": unknown}, 0.1, "omission")
    assert rows(found, "union")["low or control, low"].cost.usd is None


def test_rows_are_matched_by_note_and_not_by_place():
    table = ScoreTable(LABELS, tuple(float(k) for k in range(len(LABELS))))
    backwards = ScoreTable(LABELS[::-1], table.scores[::-1])
    first = Flagger("a", table, table.values < 5, None)
    second = Flagger("b", backwards, backwards.values < 5, None)
    assert (union(first, second).flags == first.flags).all()
    assert (escalation(first, second).flags == first.flags).all()


def test_without_a_rule_only_the_swept_threshold_is_used():
    scores = [9.0] * len(LABELS)
    bare = RungResult((ScoreTable(LABELS, tuple(scores)),), None, None)
    found = combinations({"low": bare}, {"low": bare}, 0.1, "omission")
    assert {c.basis for c in found} == {"swept"}
    assert all(c.cost is None for c in found)
