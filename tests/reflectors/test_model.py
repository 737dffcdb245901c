import asyncio
from dataclasses import replace

import pytest
from tests.reflectors.judged import BUDGET, PIN, SEED, TERMS, WHOLE, enclosed, pairs
from tests.support.scripted import ScriptedCaller, reply

from heldout.reflectors.model import ModelReflector
from heldout.reflectors.prompts import Layout, Terms, merge_prompt, rewrite_prompt
from heldout.reflectors.reflector import MergeContext, RewriteContext
from heldout.splits.randomness import call_seed
from heldout.students.calls.call import Stage
from heldout.students.models.chat import StopReason, Structured

REWRITE = RewriteContext("i01", SEED, pairs())
MERGE = MergeContext("i02", SEED, "Other.", pairs((0,)), pairs((1,)))


def reflector(script, terms=TERMS):
    caller = ScriptedCaller(script)
    return ModelReflector(caller, terms, PIN, BUDGET, run_seed=11), caller


def scripted(*answers):
    """Answers in the order of attempts."""
    return reflector(lambda spec: answers[spec.attempt])


def test_a_rewrite_is_one_call_with_the_prompt_and_a_seed_of_its_own():
    model, caller = scripted(enclosed("Look closer."))
    proposal = asyncio.run(model.rewrite(REWRITE))
    (spec,) = caller.asked
    assert (proposal.block, proposal.calls, proposal.truncated) == ("Look closer.", (spec.key,), 0)
    assert (spec.stage, spec.item, spec.attempt) == (Stage.REFLECT, "i01", 0)
    assert [m.content for m in spec.messages] == [rewrite_prompt(REWRITE, TERMS).text]
    assert spec.seed == call_seed(11, "i01", Stage.REFLECT, 0)
    assert (spec.pin, spec.budget) == (PIN, BUDGET)
    assert spec.stage.keeps_messages


def test_a_merge_is_asked_for_at_its_own_stage():
    model, caller = scripted(enclosed("Both."))
    assert asyncio.run(model.merge(MERGE)).block == "Both."
    (spec,) = caller.asked
    assert spec.stage is Stage.MERGE
    assert spec.messages[0].content == merge_prompt(MERGE, TERMS).text
    assert spec.seed == call_seed(11, "i02", Stage.MERGE, 0)


def test_an_unusable_reply_is_asked_for_once_more_as_a_call_of_its_own():
    model, caller = scripted("I would rather not.", enclosed("Look closer."))
    proposal = asyncio.run(model.rewrite(REWRITE))
    first, second = caller.asked
    assert proposal.block == "Look closer."
    assert proposal.calls == (first.key, second.key)
    assert (second.stage, second.attempt, second.seed) == (Stage.REFLECT, 1, first.seed)
    assert first.key != second.key
    assert "no line that holds only <<<BLOCK" in second.messages[-1].content
    assert [m.role for m in second.messages] == ["user"]


def test_after_the_second_unusable_reply_there_is_no_block():
    model, caller = scripted("No.", f"{enclosed('A')}{enclosed('B')}")
    proposal = asyncio.run(model.rewrite(REWRITE))
    assert proposal.block is None
    assert len(proposal.calls) == len(caller.asked) == 2


def test_an_empty_block_is_told_from_no_block():
    model, _ = scripted(enclosed(""), enclosed("  "))
    assert asyncio.run(model.rewrite(REWRITE)).block == ""


@pytest.mark.parametrize("finish", [StopReason.LENGTH, StopReason.FILTER])
def test_a_cut_or_filtered_reply_has_no_block(finish):
    model, caller = scripted(reply("Thinking…\n<<<BLOCK\nLook", finish), enclosed("Look closer."))
    assert asyncio.run(model.rewrite(REWRITE)).block == "Look closer."
    assert len(caller.asked) == 2


@pytest.mark.parametrize(
    "text",
    [
        enclosed("Look closer."),
        f"<think>a draft\n{enclosed('Look closer.')}",
        f"{enclosed('Look closer.')}\nThis block",
        '{"block": "Look closer."}',
        f"```\n{enclosed('Look closer.')}\n```",
    ],
)
def test_a_reply_that_was_cut_off_yields_no_block_whatever_stands_in_it(text):
    model, caller = scripted(*[reply(text, StopReason.LENGTH)] * 2)
    proposal = asyncio.run(model.rewrite(REWRITE))
    assert proposal.block is None
    assert "the reply ends at the token cap" in caller.asked[1].messages[0].content


def test_dressing_that_cannot_be_taken_off_is_asked_about_by_name():
    odd = enclosed("Read.\nHere is the improved block:\nCheck.")
    model, caller = scripted(odd, enclosed("Read.\nCheck."))
    assert asyncio.run(model.rewrite(REWRITE)).block == "Read.\nCheck."
    assert "a sentence about itself" in caller.asked[1].messages[0].content


@pytest.mark.parametrize(
    "form", [Structured.JSON_SCHEMA, Structured.JSON_OBJECT, Structured.GRAMMAR]
)
def test_a_structured_reflector_is_asked_for_an_object_and_read_the_same_way(form):
    pin = replace(PIN, structured=form, bounded=True)
    caller = ScriptedCaller(lambda spec: ["No.", '{"block": "Look closer."}'][spec.attempt])
    terms = replace(TERMS, layout=Layout.BLOCK_FIRST)
    model = ModelReflector(caller, terms, pin, BUDGET, run_seed=11)
    assert asyncio.run(model.rewrite(REWRITE)).block == "Look closer."
    for spec in caller.asked:
        assert set(spec.pin.parameters) == {
            "grammar" if form is Structured.GRAMMAR else "response_format"
        }
        assert 'its one field "block"' in spec.messages[0].content
        assert "<<<BLOCK" not in spec.messages[0].content


def test_what_is_written_by_hand_keeps_the_markers():
    pin = replace(PIN, structured=Structured.GRAMMAR, parameters={"grammar": "root ::= [a-z]+"})
    caller = ScriptedCaller(lambda _: enclosed("Look closer."))
    model = ModelReflector(caller, TERMS, pin, BUDGET, run_seed=11)
    assert asyncio.run(model.rewrite(REWRITE)).block == "Look closer."
    assert caller.asked[0].pin == pin
    assert "<<<BLOCK" in caller.asked[0].messages[0].content


def test_reasoning_is_no_reply():
    """dspy#9194: reasoning models return structured replies."""
    thought = replace(reply(""), reasoning=enclosed("A thought, not an answer."))
    model, _ = scripted(thought, thought)
    assert asyncio.run(model.rewrite(REWRITE)).block is None


def test_traces_without_room_are_counted_and_named_on_the_proposal():
    context = replace(REWRITE, pairs=pairs(range(40)))
    model, _ = reflector(
        lambda _: enclosed("Look closer."), terms=Terms(WHOLE, payload_tokens=4000)
    )
    proposal = asyncio.run(model.rewrite(context))
    assert proposal.truncated == len(proposal.left_out) > 100
    assert set(proposal.left_out) < {pair.errored.id for pair in context.pairs}


def test_a_payload_without_room_for_a_merge_is_refused_at_once():
    with pytest.raises(ValueError, match="payload_tokens is 3999"):
        reflector(lambda _: "", terms=Terms(WHOLE, payload_tokens=3999))
