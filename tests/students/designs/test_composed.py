"""Designs made of other designs, and the controls."""

import json

import pytest
from tests.students.conformance import judge
from tests.support.answering import FACTS, answer, fact_ids
from tests.support.notes import benchmark
from tests.support.scripted import ScriptedCaller

from heldout.students.calls.call import Stage
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.roster import DESIGNS
from heldout.students.models.chat import ModelPin
from heldout.students.student import Outcome

CONSULTATION = benchmark(1).consultations[0]
NOTE = CONSULTATION.clean[0]


def built(name, script, run_seed=11):
    caller = ScriptedCaller(script)
    roles = Roles.all(ModelPin("scripted/judge"))
    return DESIGNS[name].build(DesignContext(roles, caller, run_seed)), caller


def per_sample(scores):
    """A script that gives sample k the k-th score; None is an unreadable reply."""

    def script(spec):
        score = scores[spec.sample % len(scores)]
        return "unreadable" if score is None else json.dumps({"score": score})

    return script


def test_eight_samples_make_a_winsorised_mean_and_a_rule_on_it():
    student, caller = built("fc_score_8", per_sample([0, 8, 8, 8, 8, 8, 9, 10]))
    answered = judge(student, NOTE)
    assert answered.score == pytest.approx((8 * 6 + 9 + 9) / 8)
    assert answered.flag is False
    assert len(caller.asked) == 8
    assert len({spec.seed for spec in caller.asked}) == 8
    again = judge(student, NOTE, sample=1)
    assert set(answered.calls).isdisjoint(again.calls)


@pytest.mark.parametrize(("scores", "flag"), [([8] * 8, False), ([7, 7, 8, 8, 8, 8, 8, 8], True)])
def test_a_mean_below_eight_is_flagged(scores, flag):
    assert judge(built("fc_score_8", per_sample(scores))[0], NOTE).flag is flag


def test_eight_verdicts_are_flagged_at_a_mean_of_five_or_less():
    def verdicts(fails):
        words = ["no"] * fails + ["yes"] * (8 - fails)
        return lambda spec: json.dumps({"answer": words[spec.sample]})

    found = [judge(built("f_yes_no_8", verdicts(fails))[0], NOTE) for fails in (3, 4, 5)]
    assert [answered.score for answered in found] == [6.25, 5.0, 3.75]
    assert [answered.flag for answered in found] == [False, True, True]


def test_samples_without_a_score_are_left_out_unless_there_is_no_other():
    answered = judge(built("f_score_8", per_sample([None, 4, 4, 4, 4, 4, 4, 4]))[0], NOTE)
    assert (answered.outcome, answered.score, len(answered.calls)) == (Outcome.OK, 4.0, 9)
    failed = judge(built("f_score_8", per_sample([None]))[0], NOTE)
    assert (failed.outcome, failed.score) == (Outcome.CONTRACT_VIOLATION, None)
    assert len(failed.calls) == 16


@pytest.mark.parametrize(
    ("rule_flags", "judge_flags", "score"),
    [(True, True, 0.0), (True, False, 0.5), (False, True, 0.5), (False, False, 1.0)],
)
def test_the_union_flags_if_either_does(rule_flags, judge_flags, score):
    def script(spec):
        about_facts = spec.stage is not Stage.JUDGE
        return answer(spec, well=not (rule_flags if about_facts else judge_flags))

    answered = judge(built("union", script)[0], NOTE)
    assert answered.flag is (rule_flags or judge_flags)
    assert answered.score == score
    assert answered.facts_digest


def test_the_block_under_study_reaches_only_the_first_judge_of_a_union():
    student, caller = built("union", lambda spec: answer(spec, well=True))
    judge(student, NOTE, block="MY BLOCK")
    holding = {s.stage for s in caller.asked if "MY BLOCK" in s.messages[0].content}
    assert holding == {Stage.CHECK}


def test_coverage_flags_on_anything_uncovered_and_reports_faithfulness_beside():
    def script(spec):
        return answer(spec, well=spec.stage is not Stage.JUDGE)

    answered = judge(built("coverage", script)[0], NOTE)
    assert (answered.score, answered.flag) == (1.0, False)
    assert answered.figures["faithfulness"] == 0.0

    def one_gap(spec):
        if spec.stage is not Stage.CHECK:
            return answer(spec, well=True)
        ids = fact_ids(spec.messages[0].content)
        words = {**dict.fromkeys(ids, "present"), ids[1]: "absent"}
        return json.dumps({"verdicts": words})

    answered = judge(built("coverage", one_gap)[0], NOTE)
    assert (answered.score, answered.flag) == (0.75, True)
    assert [finding.text for finding in answered.findings] == [FACTS[1]]


def test_the_fact_list_stands_in_the_prompt_of_an_open_score():
    student, caller = built("fact_list", lambda spec: answer(spec, well=True))
    answered = judge(student, NOTE)
    prompt = caller.asked[-1].messages[0].content
    assert all(text in prompt for text in FACTS)
    assert prompt.index(NOTE.transcript) < prompt.index(FACTS[0]) < prompt.index(NOTE.text)
    assert answered.facts_digest
    assert answered.verdicts is None


def test_sections_stand_before_facts_and_a_misplaced_fact_counts_half():
    words = ["present", "misplaced", "absent", "present"]

    def script(spec):
        if spec.stage is not Stage.CHECK:
            return answer(spec, well=True)
        ids = fact_ids(spec.messages[0].content)
        return json.dumps({"verdicts": dict(zip(ids, words, strict=True))})

    student, caller = built("section_coverage", script)
    answered = judge(student, NOTE)
    assert f"[allergies] {FACTS[3]}" in caller.asked[-1].messages[0].content
    assert answered.score == pytest.approx(2.5 / 4)
    assert answered.assessment == "1 of 4 facts absent, 1 misplaced"


def test_the_engineered_judge_flags_on_a_critical_item_whatever_the_score():
    def listing(severity, score):
        gaps = [{"item": "Allergy", "severity": severity}]
        return lambda _: json.dumps({"missing": gaps, "score": score})

    assert judge(built("engineered", listing("critical", 10))[0], NOTE).flag is True
    assert judge(built("engineered", listing("supporting", 0))[0], NOTE).flag is False


def test_controls_make_no_calls_and_order_as_they_say():
    for name in ("word_count", "transcript_words", "constant", "random"):
        student, caller = built(name, str)
        for note in CONSULTATION.notes:
            assert judge(student, note).outcome is Outcome.OK
        assert caller.asked == []
    words = built("transcript_words", str)[0]
    shorter = CONSULTATION.errored[0]
    assert judge(words, shorter).score < judge(words, NOTE).score
    draws = {judge(built("random", str, seed)[0], NOTE).score for seed in (11, 22)}
    assert len(draws) == 2
