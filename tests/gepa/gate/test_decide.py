import json

import numpy as np
import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError
from tests.support.score_tables import build, table_pairs, with_scores

from heldout.gepa.gate.decide import (
    Finding,
    GateSettings,
    SideMargins,
    decide,
    decide_family,
    pre_gate,
)
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.judged import Judged


def many(count, omission, addition=4.0, clean=9.0):
    return build(*[(clean, [("omit", omission), ("omit", omission), ("add", addition)])] * count)


def gate(candidate, baseline, settings=None, **options):
    settings = settings or GateSettings()
    options = {"primary": "paired_omissions", "seed": 1, **options}
    return decide(Judged.once(candidate), Judged.once(baseline), settings, **options)


BETTER, SAME = many(20, 8), many(20, 9)


def mixed(winning, losing, tying=0):
    """Candidate and tying baseline: consultations where the candidate wins, loses and ties."""
    scores = [8] * winning + [10] * losing + [9] * tying
    ours = build(*[(9, [("omit", s), ("omit", s), ("add", 4)]) for s in scores])
    return ours, with_scores(ours, [9 if s in (8, 10) else s for s in ours.scores])


def test_a_clear_gain_without_shown_harm_is_emitted():
    found = gate(BETTER, SAME)
    assert (found.decision, found.reason, found.finding) == ("emitted", None, Finding.BETTER)
    rules = ["studentised", "interval", "bootstrap", "permutation", "point"]
    assert [v.rule for v in found.verdicts] == rules
    assert all(v.ships for v in found.verdicts)
    assert found.difference.level == pytest.approx(0.95)
    assert found.largest_gain_not_excluded == found.difference.high


def test_no_gain_is_refused_by_the_gate():
    found = gate(*mixed(10, 8, 2))
    assert (found.decision, found.reason) == ("refused", "gate")
    assert found.verdict.rule == "studentised"
    assert found.finding is Finding.COULD_NOT_BE_SEEN


def test_a_point_gain_ships_under_the_point_rule_alone():
    ours, theirs = mixed(6, 4, 10)
    for rule, decision in (
        ("point", "emitted"),
        ("interval", "refused"),
        ("bootstrap", "refused"),
        ("permutation", "refused"),
    ):
        assert gate(ours, theirs, GateSettings(rule=rule)).decision == decision


def test_shown_harm_on_a_side_measure_refuses_and_is_named():
    harmed = many(60, 8, addition=9.5)
    found = gate(harmed, many(60, 9))
    assert (found.decision, found.reason) == ("refused", "side:commissions")
    wide = GateSettings(side_margins=SideMargins(commissions=1.0))
    assert gate(harmed, many(60, 9), wide).decision == "emitted"


def test_the_gate_comes_before_the_side_conditions():
    ours, theirs = mixed(30, 30)
    harmed = with_scores(ours, [9.5 if s == 4 else s for s in ours.scores])
    assert gate(harmed, theirs).reason == "gate"


def test_the_other_paired_measure_is_the_side_condition():
    omissions = gate(BETTER, SAME)
    commissions = gate(BETTER, SAME, primary="paired_commissions")
    assert omissions.sides[0].measure == "commissions"
    assert commissions.sides[0].measure == "omissions"
    assert commissions.difference.estimate == 0


def test_planned_looks_share_the_level():
    one, two = (gate(BETTER, SAME, planned_looks=k) for k in (1, 2))
    assert two.difference.level == pytest.approx(0.975)
    assert two.difference.low < one.difference.low


@pytest.mark.parametrize(
    ("winning", "losing", "tying", "finding"),
    [
        (30, 0, 10, Finding.BETTER),
        (0, 30, 10, Finding.WORSE),
        (20, 20, 400, Finding.NO_BETTER),
        (3, 3, 6, Finding.COULD_NOT_BE_SEEN),
    ],
)
def test_shown_to_be_no_better_is_told_from_could_not_be_seen(winning, losing, tying, finding):
    found = gate(*mixed(winning, losing, tying))
    assert found.finding is finding
    assert len(found.sentences) >= 4


def test_a_refusal_says_how_much_data_it_would_have_taken():
    found = gate(*mixed(5, 3, 12))
    assert found.consultations.needed_for_hoped > found.consultations.have == 20
    text = " ".join(found.sentences)
    assert f"needs {found.consultations.needed_for_hoped} consultations" in text


def test_what_the_observed_size_needs_is_given_for_both_ends_or_not_at_all():
    # Where the interval reaches the margin, no number shows a difference of its lower end.
    for unclear in (mixed(5, 3, 12), mixed(3, 5, 12), mixed(0, 0, 20)):
        found = gate(*unclear)
        assert (found.consultations.needed_at_low, found.consultations.needed_at_high) == (
            None,
            None,
        )
        assert "the true difference is" not in " ".join(found.sentences)
    clear = gate(*mixed(18, 2, 20))
    low, high = clear.consultations.needed_at_low, clear.consultations.needed_at_high
    assert high < 40 < low
    line = next(s for s in clear.sentences if "the true difference is" in s)
    assert f"takes {high} consultations" in line
    assert f"{low} if it is the lower" in line


def test_a_few_large_consultations_that_carry_the_result_are_seen_beside_it():
    ours = build((9, [("omit", 8)] * 9), *[(9, [("omit", 10)])] * 18)
    found = gate(ours, with_scores(ours, [9] * len(ours.scores)))
    assert found.difference.estimate == pytest.approx((9 - 18) / 54)
    assert found.consultation_weighted == pytest.approx((0.5 - 9) / 19)
    assert "each consultation weighted alike -0.447, each pair -0.167" in found.sentences


def test_a_difference_that_is_not_winner_minus_baseline_is_said_to_be():
    silent = with_scores(BETTER, [None, *BETTER.scores[1:]])
    found = gate(silent, SAME)
    assert found.winner_minus_baseline == 0.5
    assert found.difference.estimate == pytest.approx(19 / 20 * 0.5 - 1 / 20 * 0.5)
    assert found.jointly_answered.estimate == 0.5
    assert any("not winner minus baseline" in line for line in found.sentences)
    assert not any("not winner minus baseline" in line for line in gate(BETTER, SAME).sentences)


def test_replicates_show_their_spread():
    found = decide(
        Judged((BETTER, BETTER)),
        Judged((SAME, BETTER, SAME)),
        GateSettings(),
        primary="paired_omissions",
        seed=1,
    )
    assert found.run_to_run.winner.span == 0
    assert found.run_to_run.baseline.span == 0.5
    assert found.winner_minus_baseline == pytest.approx(1 - 2 / 3)
    assert plain(found)["run_to_run"]["baseline"]["span"] == 0.5


def test_the_json_is_json_and_has_the_contract_keys():
    body = json.loads(json.dumps(plain(gate(BETTER, SAME)), allow_nan=False))
    assert {"decision", "reason", "rule", "difference", "verdicts", "sides"} <= set(body)
    assert set(body["difference"]) == {"estimate", "low", "high", "level", "method"}
    assert body["consultations"]["have"] == 20


def test_a_refusal_for_an_outside_reason_keeps_the_figures():
    found = gate(BETTER, SAME).refused("drift")
    assert (found.decision, found.reason) == ("refused", "drift")
    assert found.difference == gate(BETTER, SAME).difference


@settings(max_examples=60)
@given(table_pairs())
def test_any_two_tables_get_a_decision(pair):
    # One consultation, all ties, no pair, a missing twin score, violations on either side.
    found = gate(*pair)
    assert found.decision == ("refused" if found.reason else "emitted")
    json.dumps(plain(found), allow_nan=False)
    if found.consultations.have < 2:
        assert found.decision == "refused"
    again = gate(*pair)
    assert plain(again) == plain(found)


class TestPreGate:
    def run(self, candidate, baseline, name):
        settings = GateSettings(pre_gate=name)
        judges = Judged.once(candidate), Judged.once(baseline)
        return pre_gate(*judges, settings, primary="paired_omissions")

    def test_above_buys_for_any_gain(self):
        ours, theirs = mixed(5, 4, 40)
        assert self.run(ours, theirs, "above").buys
        assert not self.run(theirs, theirs, "above").buys
        assert not self.run(theirs, ours, "above").buys

    def test_study_wants_two_points_on_both_measures(self):
        assert self.run(BETTER, SAME, "study").buys
        # A gain of the paired measure alone: the candidate's clean notes vary, so that nothing is
        # detected at the cap.
        spread = build(*[(s, [("omit", s - 0.1), ("omit", s - 0.1)]) for s in range(100)])
        flat = with_scores(spread, [round(s + 0.1, 1) if s % 1 else s for s in spread.scores])
        found = self.run(spread, flat, "study")
        assert found.primary == 0.5
        assert found.swept_detection < 0.02
        assert not found.buys

    def test_off_always_buys(self):
        assert self.run(SAME, BETTER, "off").buys

    def test_without_a_pair_nothing_is_above(self):
        none = build((9, [("add", 8)]))
        assert not self.run(none, none, "above").buys
        assert self.run(none, none, "above").primary is None


class TestFamily:
    def test_holm_takes_back_what_does_not_survive(self):
        # p of the weaker target lies between 0.0125 and 0.025: it ships alone, not beside another
        # that fails.
        weak = gate(*mixed(9, 2, 9), GateSettings(rule="interval"))
        none = gate(SAME, SAME, GateSettings(rule="interval"))
        strong = gate(BETTER, SAME, GateSettings(rule="interval"))
        assert 0.0125 < weak.verdict.p < 0.025
        assert weak.decision == "emitted"
        beside_failure = decide_family({"weak": weak, "none": none})["weak"]
        assert (beside_failure.reason, beside_failure.finding) == (
            "gate:family",
            Finding.COULD_NOT_BE_SEEN,
        )
        assert [member.name for member in beside_failure.family] == ["weak", "none"]
        assert beside_failure.family[0].adjusted == pytest.approx(2 * weak.verdict.p)
        beside_success = decide_family({"weak": weak, "strong": strong})
        assert [d.decision for d in beside_success.values()] == ["emitted", "emitted"]

    def test_the_point_rule_has_no_p_and_is_left_alone(self):
        point = gate(*mixed(6, 4, 10), GateSettings(rule="point"))
        alone = decide_family({"a": point})["a"]
        assert (alone.decision, alone.reason, alone.finding) == ("emitted", None, point.finding)
        assert [(m.p, m.adjusted, m.shown) for m in alone.family] == [(None, None, True)]

    def test_other_reasons_stay(self):
        harmed = gate(many(60, 8, addition=9.5), many(60, 9))
        assert decide_family({"a": harmed})["a"].reason == "side:commissions"

    def test_one_level_for_the_family(self):
        with pytest.raises(ValueError, match="one level"):
            decide_family({"a": gate(BETTER, SAME), "b": gate(BETTER, SAME, planned_looks=2)})


class TestTooFew:
    def test_a_perfect_result_on_few_consultations_is_refused_with_that_reason(self):
        found = gate(many(11, 8), many(11, 9))
        assert (found.decision, found.reason) == ("refused", "gate:too_few")
        assert found.finding is not Finding.BETTER
        assert found.sentence == "refused: the held-out consultations are too few for any decision"
        assert "11.0 effective consultations of 11" in found.sentences[0]
        assert gate(many(12, 8), many(12, 9)).decision == "emitted"

    def test_one_huge_consultation_is_not_many(self):
        scores = [(9, [("omit", 8)] * (60 if k == 0 else 1)) for k in range(40)]
        ours = build(*scores)
        theirs = with_scores(ours, [9 for _ in ours.scores])
        found = gate(ours, theirs)
        assert found.consultations.have == 40
        assert found.consultations.effective == pytest.approx(99**2 / (60**2 + 39))
        assert found.reason == "gate:too_few"

    def test_five_that_differ_cannot_reach_the_level(self):
        assert gate(*mixed(5, 0, 30)).reason == "gate:too_few"
        assert gate(*mixed(6, 0, 30)).decision == "emitted"
        assert gate(*mixed(6, 0, 30), planned_looks=2).reason == "gate:too_few"

    def test_the_floor_is_a_setting_on_record(self):
        assert gate(many(4, 8), many(4, 9), GateSettings(min_effective=0)).reason != "gate:too_few"


class TestRunToRun:
    def test_a_run_that_moves_as_a_whole_is_noise(self):
        # Two runs win in most consultations, the third in few: the runs differ, not the blocks.
        ours, theirs = mixed(34, 2, 4)
        poor = with_scores(ours, [9 if s == 8 else s for s in ours.scores])
        found = decide(
            Judged((ours, ours, poor)),
            Judged((theirs,) * 3),
            GateSettings(),
            primary="paired_omissions",
            seed=1,
        )
        assert found.verdict.ships
        assert found.reason == "gate:noise"
        assert found.finding is not Finding.BETTER
        assert found.run_to_run.interval.low < 0
        assert found.p == found.run_to_run.p > 0.025 > found.verdict.p

    def test_a_family_adjusts_the_p_that_holds_run_to_run_noise(self):
        # Alone it clears the margin at 0.025, beside a failing target Holm asks for 0.0125.
        ours, theirs = mixed(34, 2, 4)
        rng = np.random.default_rng(1)
        runs = [
            with_scores(ours, [9 if s == 8 and rng.random() < out else s for s in ours.scores])
            for out in (0.0, 0.3, 0.62)
        ]
        noisy = decide(
            Judged(tuple(runs)),
            Judged((theirs,) * 3),
            GateSettings(alpha=0.05),
            primary="paired_omissions",
            seed=1,
        )
        assert noisy.decision == "emitted"
        assert noisy.verdict.p < 0.001 < 0.025 < noisy.p < 0.05
        failing = gate(*mixed(7, 7, 6), GateSettings(alpha=0.05))
        assert decide_family({"a": noisy, "b": failing})["a"].reason == "gate:family"

    def test_below_three_replicates_the_missing_part_is_said(self):
        assert any(
            "run-to-run noise is not in the interval" in s for s in gate(BETTER, SAME).sentences
        )
        three = decide(
            Judged((BETTER,) * 3),
            Judged((SAME,) * 3),
            GateSettings(),
            primary="paired_omissions",
            seed=1,
        )
        assert three.decision == "emitted"
        assert any("with run-to-run noise" in line for line in three.sentences)


class TestGoals:
    def test_better_is_said_only_where_zero_is_excluded(self):
        goal = GateSettings(goal="non_inferior", margin=0.3)
        found = gate(*mixed(20, 20, 40), goal)
        assert (found.decision, found.finding) == ("emitted", Finding.NOT_WORSE)
        assert gate(*mixed(40, 0, 10), goal).finding is Finding.BETTER
        assert gate(*mixed(0, 40, 10), goal).decision == "refused"

    def test_equivalence_needs_both_sides(self):
        goal = GateSettings(goal="equivalent", margin=0.2)
        assert gate(*mixed(20, 20, 80), goal).finding is Finding.EQUIVALENT
        assert gate(*mixed(100, 0, 10), goal).reason == "gate"
        assert gate(*mixed(0, 100, 10), goal).reason == "gate"

    @pytest.mark.parametrize("goal", ["non_inferior", "equivalent"])
    def test_a_goal_with_a_margin_needs_one(self, goal):
        with pytest.raises(ValueError, match="needs a margin above 0"):
            GateSettings(goal=goal)

    def test_the_pre_gate_follows_the_goal(self):
        loses = [Judged.once(table) for table in mixed(9, 10, 21)]
        buys = [
            pre_gate(*loses, settings, primary="paired_omissions").buys
            for settings in (GateSettings(), GateSettings(goal="non_inferior", margin=0.1))
        ]
        assert buys == [False, True]

    def test_what_is_not_cleared_refuses_where_that_is_asked(self):
        assert gate(BETTER, SAME).decision == "emitted"
        strict = GateSettings(sides="require_cleared", side_margins=SideMargins(commissions=0.01))
        assert gate(BETTER, SAME, strict).reason.startswith("side:")


class TestFindings:
    @given(table_pairs())
    @settings(max_examples=40, deadline=None)
    def test_a_finding_never_contradicts_the_rule(self, pair):
        for rule in ("studentised", "interval", "bootstrap", "permutation"):
            found = gate(*pair, GateSettings(rule=rule, min_effective=0))
            assert found.verdict.ships == (found.finding is Finding.BETTER)

    def test_rules_that_disagree_are_named_and_the_chosen_one_decides(self):
        found = gate(*mixed(9, 2, 9), GateSettings(rule="interval"))
        assert found.decision == "emitted"
        assert "studentised" in found.disagreeing
        assert any(
            line.startswith("the rules disagree: interval ships") for line in found.sentences
        )


class TestSettings:
    adapter = TypeAdapter(GateSettings)

    def test_defaults_are_the_design(self):
        found = self.adapter.validate_python({})
        assert (found.rule, found.margin, found.alpha, found.pre_gate) == (
            "studentised",
            0.0,
            0.025,
            "above",
        )
        assert set(found.side_margins.by_measure().values()) == {0.05}

    @pytest.mark.parametrize(
        "wrong",
        [
            {"rule": "points"},
            {"alpha": 0},
            {"alpha": 0.5},
            {"margin": 2},
            {"pre_gate": "no"},
            {"side_margins": {"commissions": -1}},
        ],
    )
    def test_values_out_of_range_are_faults(self, wrong):
        with pytest.raises(ValidationError):
            self.adapter.validate_python(wrong)


class TestTooFewForAMargin:
    """Where nearly all consultations tie, their distance from a margin is no evidence."""

    @pytest.mark.parametrize("goal", ["non_inferior", "equivalent"])
    @pytest.mark.parametrize(("winning", "losing"), [(1, 0), (0, 1), (3, 2), (5, 0)])
    def test_a_handful_that_differ_show_nothing(self, goal, winning, losing):
        settings = GateSettings(goal=goal, margin=0.05)
        found = gate(*mixed(winning, losing, 47 - winning - losing), settings)
        assert (found.decision, found.reason) == ("refused", "gate:too_few")
        assert found.consultations.differing == winning + losing

    def test_none_that_differs_is_decided_by_the_exact_bound(self):
        settings = GateSettings(goal="non_inferior", margin=0.1)
        assert gate(*mixed(0, 0, 60), settings).decision == "emitted"
        assert gate(*mixed(0, 0, 20), settings).reason == "gate"
        assert gate(*mixed(0, 0, 60)).reason == "gate:too_few"

    def test_enough_that_differ_are_decided(self):
        settings = GateSettings(goal="non_inferior", margin=0.3)
        assert gate(*mixed(8, 4, 35), settings).decision == "emitted"
