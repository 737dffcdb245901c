import json
from dataclasses import replace

import pytest
from tests.students.conformance import judge
from tests.support.answering import FACTS, answer, fact_ids
from tests.support.notes import benchmark
from tests.support.scripted import ScriptedCaller

from heldout.students.calls.call import Stage
from heldout.students.designs.capture import PerFactRule
from heldout.students.designs.checker import Overturned, verified
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.facts import Fact, NoteLeaked
from heldout.students.designs.roster import DESIGNS
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.student import Outcome, ReportedGap

CONSULTATION = benchmark(1).consultations[0]
NOTE = CONSULTATION.clean[0]
PIN = ModelPin("scripted/judge")
GRADES = ("peripheral", "supporting", "critical", "critical")


def keyed(field, spec, words):
    ids = fact_ids(spec.messages[0].content)
    return json.dumps({field: dict(zip(ids, words, strict=True))})


def scripted(verdicts, quotes=(), grades=GRADES):
    """Answers in the order of the facts listed in each prompt."""

    def script(spec):
        if spec.stage is Stage.AUDIT:
            return keyed("grades", spec, grades)
        if spec.stage is Stage.CHECK:
            return keyed("verdicts", spec, verdicts)
        if spec.stage is Stage.SECOND_LOOK:
            return keyed("quotes", spec, quotes)
        return answer(spec, well=True)

    return ScriptedCaller(script)


def three_stage(caller, run_seed=11, name="three_stage"):
    return DESIGNS[name].build(DesignContext(Roles.all(PIN), caller, run_seed))


def test_the_score_is_severity_weighted_capture_and_the_plain_share_stands_beside():
    caller = scripted(["absent", "partial", "full", "full"], [None])
    answered = judge(three_stage(caller), NOTE)
    assert answered.score == pytest.approx((0 * 1 + 0.5 * 2 + 4 + 4) / 11)
    assert answered.figures["unweighted"] == pytest.approx(2.5 / 4)
    assert answered.figures["partial"] == 1
    assert answered.flag is False


def test_the_rule_flags_on_one_absent_critical_fact_and_names_it_with_its_evidence():
    caller = scripted(["absent", "full", "full", "absent"], [None, None])
    answered = judge(three_stage(caller), NOTE)
    assert answered.flag is True
    assert answered.figures["absent_critical"] == 1
    assert answered.findings == (
        ReportedGap(FACTS[3], "critical", FACTS[3].lower()),
        ReportedGap(FACTS[0], "peripheral", FACTS[0].lower()),
    )


@pytest.mark.parametrize(
    ("name", "verdicts", "flag"),
    [
        ("three_stage", ["full", "absent", "full", "full"], False),
        ("three_stage_widened", ["full", "absent", "full", "full"], True),
        ("three_stage_widened", ["absent", "full", "full", "full"], False),
        ("three_stage", ["full", "full", "partial", "full"], False),
    ],
)
def test_the_trigger_class_is_a_parameter(name, verdicts, flag):
    caller = scripted(verdicts, [None])
    assert judge(three_stage(caller, name=name), NOTE).flag is flag


def test_a_rule_without_triggers_takes_any_fact():
    assert PerFactRule(None).flags([Fact("a", "Cough")])
    assert not PerFactRule(None).flags([])


def test_the_audit_drops_facts_and_the_checker_never_sees_grades():
    grades = ("unsupported", "critical", "trivial", "critical")
    caller = scripted(["full", "full"], grades=grades)
    answered = judge(three_stage(caller), NOTE)
    check = next(spec for spec in caller.asked if spec.stage is Stage.CHECK)
    assert set(answered.facts.values()) == {FACTS[1], FACTS[3]}
    assert "critical" not in check.messages[0].content
    assert all(text.lower() not in check.messages[0].content for text in FACTS)


def test_an_audit_that_drops_everything_is_a_violation():
    caller = scripted([], grades=("duplicate",) * 4)
    answered = judge(three_stage(caller), NOTE)
    assert answered.outcome is Outcome.CONTRACT_VIOLATION
    assert answered.assessment == "the audit dropped every fact"


def test_audit_and_extraction_see_the_transcript_only():
    caller = scripted(["full"] * 4)
    judge(three_stage(caller), NOTE)
    shared = [spec for spec in caller.asked if spec.item == NOTE.consultation]
    assert [spec.stage for spec in shared] == [Stage.EXTRACT, Stage.AUDIT]
    for spec in shared:
        assert NOTE.transcript in spec.messages[0].content
        assert NOTE.text not in spec.messages[0].content


def test_the_audit_checks_its_own_prompt_for_notes():
    leaking = json.dumps({"facts": [{"text": "Cough", "evidence": NOTE.text}]})
    caller = ScriptedCaller(lambda _: leaking)
    with pytest.raises(NoteLeaked, match="audit"):
        judge(three_stage(caller), NOTE)
    blind = replace(NOTE, text="another note", siblings=())
    caller = scripted(["full"] * 4)
    assert judge(three_stage(caller), blind).outcome is Outcome.OK


def test_the_second_look_sees_note_and_absent_facts_only():
    caller = scripted(["absent", "full", "full", "absent"], [None, None])
    judge(three_stage(caller), NOTE)
    look = next(spec for spec in caller.asked if spec.stage is Stage.SECOND_LOOK)
    prompt = look.messages[0].content
    assert NOTE.text in prompt
    assert NOTE.transcript not in prompt
    assert FACTS[0] in prompt
    assert FACTS[3] in prompt
    assert FACTS[1] not in prompt
    assert "critical" not in prompt


def test_no_absence_no_second_look():
    caller = scripted(["full"] * 4)
    judge(three_stage(caller), NOTE)
    assert Stage.SECOND_LOOK not in {spec.stage for spec in caller.asked}


def test_an_absence_falls_to_partial_when_the_notes_own_words_are_quoted():
    quotes = ["ALLERGIC  to\nPenicillin.", "words that nobody wrote"]
    caller = scripted(["full", "absent", "absent", "full"], quotes)
    answered = judge(three_stage(caller), NOTE)
    words = [answered.verdicts[key] for key in answered.facts]
    assert words == ["full", "partial", "absent", "full"]
    assert answered.figures["overturned"] == 1
    assert answered.figures["quotes_refused"] == 1
    assert answered.flag is True


def test_quotes_are_verified_against_the_note():
    note = "Cough for 3 days.\nNo fever, no   rash."
    assert verified({"a": "no fever, NO rash", "b": "", "c": "no rash at all"}, note) == Overturned(
        ("a",), 1
    )
    assert verified({"a": "cough f"}, note) == Overturned((), 1)
    assert verified({"a": "cough fo"}, note) == Overturned(("a",), 0)


def test_three_replicates_and_two_blocks_buy_extraction_and_audit_once():
    caller = scripted(["full", "full", "full", "absent"], [None])
    for run_seed in (11, 22, 33):
        for block in ("one", "two"):
            for note in CONSULTATION.notes:
                judge(three_stage(caller, run_seed), note, block=block)
    stages = [spec.stage for spec in caller.asked]
    assert stages.count(Stage.EXTRACT) == stages.count(Stage.AUDIT) == 1
    assert stages.count(Stage.CHECK) == 3 * 2 * len(CONSULTATION.notes)


def test_the_budget_under_study_moves_check_and_second_look_only():
    caller = scripted(["full", "full", "full", "absent"], [None])
    judge(three_stage(caller), NOTE)
    budgets = {spec.stage: spec.budget for spec in caller.asked}
    assert budgets[Stage.CHECK] == budgets[Stage.SECOND_LOOK] == Budget(1500)
    assert budgets[Stage.EXTRACT] == budgets[Stage.AUDIT] == Budget(8000)


def test_each_role_has_its_own_model():
    roles = Roles(*(ModelPin(f"scripted/{name}") for name in ("judge", "extract", "audit", "look")))
    caller = scripted(["full", "full", "full", "absent"], [None])
    judge(DESIGNS["three_stage"].build(DesignContext(roles, caller, 11)), NOTE)
    assert {spec.stage: spec.pin.id.split("/")[1] for spec in caller.asked} == {
        Stage.EXTRACT: "extract",
        Stage.AUDIT: "audit",
        Stage.CHECK: "judge",
        Stage.SECOND_LOOK: "look",
    }


def test_the_per_fact_rule_and_the_widened_one_share_every_call():
    caller = scripted(["full", "full", "full", "absent"], [None])
    judge(three_stage(caller), NOTE)
    bought = len(caller.asked)
    judge(three_stage(caller, name="three_stage_widened"), NOTE)
    assert len(caller.asked) == bought
