import json

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
    assert [v.rule for v in found.verdicts] == ["interval", "bootstrap", "permutation", "point"]
    assert all(v.ships for v in found.verdicts)
    assert found.difference.level == pytest.approx(0.95)
    assert found.largest_gain_not_excluded == found.difference.high


def test_no_gain_is_refused_by_the_gate():
    found = gate(SAME, SAME)
    assert (found.decision, found.reason) == ("refused", "gate")
    assert found.verdict.rule == "interval"
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
    assert gate(many(60, 9, addition=9.5), many(60, 9)).reason == "gate"


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
    assert found.consultations.needed_for_observed > found.consultations.have == 20
    assert found.consultations.needed_for_hoped > 20
    text = " ".join(found.sentences)
    assert f"needs {found.consultations.needed_for_observed} consultations" in text
    assert f"needs {found.consultations.needed_for_hoped} consultations" in text
    # A loss, however many consultations are added, never becomes a gain.
    assert gate(*mixed(3, 5, 12)).consultations.needed_for_observed is None


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
        weak = gate(*mixed(9, 2, 9))
        assert 0.0125 < weak.verdict.p < 0.025
        assert weak.decision == "emitted"
        beside_failure = decide_family({"weak": weak, "none": gate(SAME, SAME)})
        assert beside_failure["weak"].reason == "gate"
        beside_success = decide_family({"weak": weak, "strong": gate(BETTER, SAME)})
        assert [d.decision for d in beside_success.values()] == ["emitted", "emitted"]

    def test_the_point_rule_has_no_p_and_is_left_alone(self):
        point = gate(*mixed(6, 4, 10), GateSettings(rule="point"))
        assert decide_family({"a": point}) == {"a": point}

    def test_other_reasons_stay(self):
        harmed = gate(many(60, 8, addition=9.5), many(60, 9))
        assert decide_family({"a": harmed})["a"].reason == "side:commissions"

    def test_one_level_for_the_family(self):
        with pytest.raises(ValueError, match="one level"):
            decide_family({"a": gate(BETTER, SAME), "b": gate(BETTER, SAME, planned_looks=2)})


class TestSettings:
    adapter = TypeAdapter(GateSettings)

    def test_defaults_are_the_design(self):
        found = self.adapter.validate_python({})
        assert (found.rule, found.margin, found.alpha, found.pre_gate) == (
            "interval",
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
