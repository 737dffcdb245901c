import json
from dataclasses import replace

import pytest
from tests.students.conformance import Case, conforms, judge, made
from tests.support.notes import benchmark

from heldout.students.calls.call import Stage
from heldout.students.designs.checker import PerFactChecker
from heldout.students.designs.facts import Extraction, NoteLeaked, sheet_of
from heldout.students.frames import load_frame
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.student import Outcome

CONSULTATION = benchmark(1).consultations[0]
NOTE = CONSULTATION.clean[0]
PIN = ModelPin("scripted/judge")
FACTS = '{"facts": [{"text": "Cough", "evidence": "coughing"}, {"text": "No fever"}, "Smokes"]}'


def build(caller, run_seed):
    extraction = Extraction(load_frame("extract"), PIN, caller, Budget(4000))
    return PerFactChecker(load_frame("check"), PIN, caller, run_seed, extraction)


def listed(spec):
    """Fact ids of a check prompt, in order."""
    facts = spec.messages[0].content.split("<facts>\n")[1].split("\n</facts>")[0]
    return [line.split(": ")[0] for line in facts.splitlines()]


def answering(words):
    """A script that gives these verdicts to the facts in order; None leaves one out."""

    def script(spec):
        if "<facts>" not in spec.messages[0].content:
            return FACTS
        given = zip(listed(spec), words, strict=True)
        return json.dumps({"verdicts": {key: word for key, word in given if word}})

    return script


CASE = Case(build, good=answering(["present", "absent", "present"]))


def test_conforms():
    conforms(CASE)


def test_the_score_is_the_share_present_and_partial_counts_as_present():
    answer = judge(made(CASE, answering(["present", "partial", "absent"]))[0], NOTE)
    assert answer.score == pytest.approx(2 / 3)
    assert answer.assessment == "1 of 3 facts absent, 1 partial"
    assert sorted(answer.verdicts.values()) == ["absent", "partial", "present"]
    assert set(answer.verdicts) == set(answer.facts)
    assert answer.flag is None


def test_facts_are_bought_once_a_consultation_whatever_block_sample_and_replicate():
    caller = made(CASE)[1]
    digests = set()
    for run_seed in (11, 22, 33):
        for block in ("one", "two"):
            for note in CONSULTATION.notes:
                digests.add(judge(build(caller, run_seed), note, block=block).facts_digest)
    assert [spec.stage for spec in caller.asked].count(Stage.EXTRACT) == 1
    assert len(digests) == 1
    assert None not in digests


def test_the_extraction_sees_the_transcript_alone_and_has_its_own_budget():
    student, caller = made(CASE)
    judge(student, NOTE)
    extraction = caller.asked[0]
    assert extraction.stage is Stage.EXTRACT
    assert NOTE.transcript in extraction.messages[0].content
    assert extraction.budget == Budget(4000)
    assert extraction.item == NOTE.consultation


@pytest.mark.parametrize("leaked", [NOTE, CONSULTATION.errored[0]])
def test_a_leaked_note_raises_before_the_call(leaked):
    student, caller = made(CASE)
    note = replace(NOTE, transcript=f"{NOTE.transcript}\n{leaked.text}")
    with pytest.raises(NoteLeaked, match=NOTE.consultation.replace("|", r"\|")):
        judge(student, note)
    assert caller.asked == []


def test_ids_left_open_are_asked_for_once_and_the_first_verdicts_stand():
    first = answering(["absent", None, "present"])
    again = answering(["present", "absent", "present"])
    student, caller = made(CASE, lambda spec: (again if spec.attempt else first)(spec))
    answer = judge(student, NOTE)
    ids = listed(caller.asked[1])
    assert answer.verdicts == dict(zip(ids, ["absent", "absent", "present"], strict=True))
    retry = caller.asked[2]
    assert retry.stage is Stage.RETRY
    assert ids[1] in retry.messages[-1].content
    assert ids[0] not in retry.messages[-1].content
    assert len(answer.calls) == 3


def test_ids_still_open_after_the_retry_are_a_violation_that_keeps_the_digest():
    answer = judge(made(CASE, answering(["absent", None, "present"]))[0], NOTE)
    assert answer.outcome is Outcome.CONTRACT_VIOLATION
    assert answer.verdicts is None
    assert answer.facts_digest
    assert "no answer for" in answer.assessment


def test_answers_in_another_order_or_with_extra_ids_are_not_shifted():
    def reversed_and_more(spec):
        if spec.stage is Stage.EXTRACT:
            return FACTS
        ids = listed(spec)
        words = dict(zip(ids, ["absent", "present", "present"], strict=True))
        return json.dumps({"verdicts": {"other": "absent", **dict(reversed(words.items()))}})

    student, caller = made(CASE, reversed_and_more)
    answer = judge(student, NOTE)
    assert answer.verdicts[listed(caller.asked[1])[0]] == "absent"
    assert answer.score == pytest.approx(2 / 3)


def test_fact_ids_are_content_of_this_consultation_not_positions():
    from heldout.students.fact_contracts import StatedFact

    cough, fever = StatedFact("Cough", ""), StatedFact("No fever", "")
    forward, backward = sheet_of("a|1", [cough, fever]), sheet_of("a|1", [fever, cough])
    assert {f.text: f.id for f in forward.facts} == {f.text: f.id for f in backward.facts}
    assert sheet_of("a|2", [cough]).facts[0].id != forward.facts[0].id
    assert forward.digest != backward.digest


def test_reading_facts_again_does_not_change_the_digest():
    one, two = made(CASE)[0], made(CASE)[0]
    assert judge(one, NOTE).facts_digest == judge(two, CONSULTATION.errored[0]).facts_digest
