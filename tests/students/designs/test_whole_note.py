import pytest
from tests.students.conformance import Case, conforms, judge, made
from tests.support.notes import benchmark

from heldout.students.designs.whole_note import WholeNoteJudge
from heldout.students.frames import load_frame
from heldout.students.models.chat import ModelPin
from heldout.students.student import Outcome

NOTE = benchmark(1).consultations[0].clean[0]


def build(caller, run_seed):
    return WholeNoteJudge(load_frame("whole_note"), ModelPin("scripted/judge"), caller, run_seed)


CASE = Case(build, good=lambda _: '{"assessment": "two gaps", "score": 7.5}')


def test_conforms():
    conforms(CASE)


@pytest.mark.parametrize(("score", "flag"), [(7, True), (7.1, False), (0, True), (10, False)])
def test_seven_or_less_is_flagged(score, flag):
    answer = judge(made(CASE, lambda _: f'{{"score": {score}}}')[0], NOTE)
    assert answer.flag is flag


def test_the_retry_names_what_was_wrong_and_repeats_the_reply():
    student, caller = made(CASE, lambda _: '{"score": 11}')
    answer = judge(student, NOTE)
    question, retry = caller.asked
    assert answer.outcome is Outcome.CONTRACT_VIOLATION
    assert answer.calls == (question.key, retry.key)
    assert retry.messages[:1] == question.messages
    assert retry.messages[1].content == '{"score": 11}'
    assert "outside the range from 0 to 10" in retry.messages[2].content
    assert "outside the range" in answer.assessment


def test_an_empty_reply_is_not_sent_back_as_a_message():
    student, caller = made(CASE, lambda _: "")
    judge(student, NOTE)
    assert [message.role for message in caller.asked[1].messages] == ["user", "user"]


def test_the_order_is_transcript_note_block_contract():
    student, caller = made(CASE)
    judge(student, NOTE, block="THE BLOCK")
    prompt = caller.asked[0].messages[0].content
    places = [prompt.index(part) for part in (NOTE.transcript, NOTE.text, "THE BLOCK", '"score"')]
    assert places == sorted(places)
