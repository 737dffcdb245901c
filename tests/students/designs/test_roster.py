import difflib

import pytest
from tests.students.conformance import Case, conforms
from tests.support.answering import answer
from tests.support.scripted import ScriptedCaller

from heldout.splits.errors import BadInput
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.roster import DESIGNS, ROSTER, DesignGroup, find_design
from heldout.students.frames import load_block, load_frame
from heldout.students.models.chat import ModelPin

PIN = ModelPin("scripted/judge")
ABLATIONS = [design for design in ROSTER if design.group is DesignGroup.ABLATION]
RULES = {
    "whole_note", "faithfulness", "faithfulness_neutral", "faithfulness_omissions", "engineered",
    "coverage", "three_stage", "three_stage_widened", "union", "fact_list",
    *(design.name for design in ABLATIONS),
}  # fmt: skip


def built(design, caller=None, run_seed=11):
    return design.build(DesignContext(Roles.all(PIN), caller or ScriptedCaller(str), run_seed))


@pytest.mark.parametrize("design", ROSTER, ids=lambda design: design.name)
def test_conforms(design):
    conforms(
        Case(
            lambda caller, run_seed: built(design, caller, run_seed),
            good=lambda spec: answer(spec, well=spec.item.endswith(("0", "2", "4", "6", "8"))),
            asks_models=design.group is not DesignGroup.CONTROL,
        )
    )


def test_names_are_unique_and_students_carry_them():
    assert len(DESIGNS) == len(ROSTER)
    assert all(built(design).design == design.name for design in ROSTER)


def test_an_unknown_design_is_a_fault_with_a_suggestion():
    with pytest.raises(BadInput, match="did you mean three_stage"):
        find_design("three_stages", "DESIGN")
    with pytest.raises(BadInput, match="designs: whole_note"):
        find_design("zzz", "DESIGN")


def lines_changed(old, new):
    return [
        line
        for line in difflib.ndiff(old.splitlines(), new.splitlines())
        if line.startswith(("+ ", "- "))
    ]


def test_the_two_criteria_differ_by_exactly_the_completeness_clause():
    f, fc = load_block("criterion_f"), load_block("criterion_fc")
    assert fc.replace(", and nothing important that was said is missing from it", "") == f
    assert {design.block for design in ABLATIONS} == {f, fc}


def test_the_two_answers_differ_by_exactly_the_contract():
    yes_no, score = load_frame("criterion_yes_no").template, load_frame("criterion_score").template
    assert yes_no.split("<answer_format>")[0] == score.split("<answer_format>")[0]
    changed = lines_changed(yes_no, score)
    assert len(changed) == 4
    assert '"answer"' in changed[0] + changed[1]
    frames = {design.name: built(design).frame.template for design in ABLATIONS}
    assert {frames[name] for name in frames if "yes_no" in name} == {yes_no}
    assert {frames[name] for name in frames if "score" in name} == {score}


def test_the_ablation_is_criterion_times_answer_times_samples():
    assert [design.name for design in ABLATIONS] == [
        "f_yes_no", "f_yes_no_8", "f_score", "f_score_8",
        "fc_yes_no", "fc_yes_no_8", "fc_score", "fc_score_8",
    ]  # fmt: skip
    assert [built(design).calls_per_judgement for design in ABLATIONS] == [2, 16, 2, 16] * 2


def test_the_three_faithfulness_wordings_differ_only_in_how_they_treat_omissions():
    shipped, neutral, demanding = (
        load_block(f"faithfulness_{name}") for name in ("shipped", "neutral", "omissions")
    )
    removed = lines_changed(shipped, neutral)
    added = lines_changed(neutral, demanding)
    assert len(removed) == len(added) == 1
    assert removed[0].startswith("- - ")
    assert "completeness" in removed[0]
    assert added[0].startswith("+ - ")
    assert "omission" in added[0]


def test_worked_examples_are_as_many_as_the_study_had():
    assert load_block("engineered").count("\n8. Said:") == 1
    assert "\n9. " not in load_block("engineered")
    assert "\n5. Nothing" in load_block("faithfulness_shipped")


def test_which_designs_have_a_rule_of_their_own():
    from tests.support.control_models import judge_all
    from tests.support.notes import benchmark

    notes = benchmark(1).consultations[0].clean
    flagging = {
        design.name
        for design in ROSTER
        if judge_all(design, ScriptedCaller(lambda spec: answer(spec, well=True)), notes)[0].flag
        is not None
    }
    assert flagging == RULES
