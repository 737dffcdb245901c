"""A `dspy.Module` with one predictor as a student: its instructions are the block."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.notes import benchmark
from tests.support.scripted import ScriptedCaller, reply

from heldout.splits.errors import StopRequested
from heldout.students.models.chat import Budget, ModelPin, StopReason
from heldout.students.student import Outcome

dspy = pytest.importorskip("dspy")
ANSWER = "[[ ## score ## ]]\n0.25\n\n[[ ## completed ## ]]"
NOTE = next(iter(benchmark(1))).notes[0]


class Rate(dspy.Signature):
    """Say how good the note is."""

    transcript: str = dspy.InputField()
    note: str = dspy.InputField()
    score: float = dspy.OutputField()


class Rater(dspy.Module):
    """Asks once."""

    def __init__(self):
        super().__init__()
        self.rate = dspy.Predict(Rate)

    def forward(self, transcript, note):
        return self.rate(transcript=transcript, note=note)


def student(script, module=None):
    from heldout.students.designs.dspy_module import ModuleStudent

    caller = ScriptedCaller(script)
    return ModuleStudent(module or Rater(), ModelPin("m", 0.0), caller, run_seed=11), caller


def judged(made, *blocks):
    async def scene():
        budget = Budget(max_tokens=100)
        return await asyncio.gather(*(made.judge(block, NOTE, budget, 0) for block in blocks))

    return asyncio.run(scene())


def test_the_block_stands_in_the_prompt_and_the_calls_are_the_campaigns():
    made, caller = student(lambda _: ANSWER)
    found = judged(made, "Count every fact.", "Look for gaps.")
    assert [(f.score, f.outcome) for f in found] == [(0.25, Outcome.OK)] * 2
    assert {key for f in found for key in f.calls} == {spec.key for spec in caller.asked}
    said = ["\n".join(m.content for m in spec.messages) for spec in caller.asked]
    assert sum("Count every fact." in text for text in said) == 1
    assert all(NOTE.text in text and spec.budget.max_tokens == 100
               for text, spec in zip(said, caller.asked, strict=True))  # fmt: skip
    assert "{{block}}" in made.frame.template


def test_an_answer_that_cannot_be_read_is_asked_for_once_more():
    replies = iter(["nonsense", ANSWER])
    made, caller = student(lambda _: next(replies))
    (found,) = judged(made, "Block.")
    assert (found.score, len(found.calls), len(set(found.calls))) == (0.25, 2, 2)
    assert [spec.attempt for spec in caller.asked] == [0, 1]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("nonsense", Outcome.CONTRACT_VIOLATION),
        (ANSWER.replace("0.25", "7"), Outcome.CONTRACT_VIOLATION),
        (reply("cut", StopReason.LENGTH), Outcome.TRUNCATED),
        (reply("", StopReason.FILTER), Outcome.REFUSED),
    ],
)
def test_what_never_comes_right_is_a_value(answer, outcome):
    made, _ = student(lambda _: answer)
    (found,) = judged(made, "Block.")
    assert (found.score, found.outcome) == (None, outcome)


def test_what_stops_a_campaign_comes_out_as_it_is():
    def stop(_):
        raise StopRequested("a person asked")

    made, _ = student(stop)
    with pytest.raises(StopRequested):
        judged(made, "Block.")


def test_a_module_of_another_make_is_refused():
    class Two(dspy.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = dspy.Predict(Rate), dspy.Predict(Rate)

    with pytest.raises(ValueError, match="2 predictors"):
        student(lambda _: ANSWER, Two())


def test_a_filtered_reply_is_refused_whatever_it_says():
    made, caller = student(lambda _: reply(ANSWER, StopReason.FILTER))
    (found,) = judged(made, "Count every fact.")
    assert (found.score, found.outcome) == (None, Outcome.REFUSED)
    assert len(caller.asked) == 1
