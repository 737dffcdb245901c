import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reflectors.judged import PIN, SEED, TERMS, WHOLE, answer, guard, pairs, request
from tests.support.scripted import ScriptedCaller

from heldout.reflectors.model import ModelReflector
from heldout.reflectors.prompts import merge_prompt, rewrite_prompt
from heldout.reflectors.reflector import MergeContext, RewriteContext
from heldout.reflectors.reply import extract_block
from heldout.reflectors.simulated.editing import Habits
from heldout.reflectors.simulated.model import UNUSABLE_RATE, SimulatedReflector
from heldout.splits.errors import BadInput
from heldout.students.frames import BLOCK_SLOT
from heldout.students.models.chat import Budget, ModelPin, StopReason
from heldout.students.simulated.skills import Skill, read_block

REWRITE = rewrite_prompt(RewriteContext("i01", SEED, pairs((0, 1))), TERMS).text
MERGE = merge_prompt(
    MergeContext("i02", SEED, "Compare every dose with what was said.", pairs((0,)), pairs((1,))),
    TERMS,
).text
SIM = SimulatedReflector()


def complete(model=SIM, text=REWRITE, seed=1, **kwargs):
    return asyncio.run(model.complete(request(text, seed, **kwargs)))


def test_equal_requests_get_equal_replies_and_others_differ():
    assert complete() == complete(SimulatedReflector())
    assert complete().text != complete(seed=2).text
    assert complete().text != complete(text=REWRITE + "\n").text


def test_about_four_in_a_hundred_replies_are_of_no_use():
    replies = [answer(SIM, REWRITE, seed) for seed in range(1000)]
    spoilt = [extract_block(text) for text in replies if not extract_block(text).usable]
    assert 0.5 * UNUSABLE_RATE < len(spoilt) / 1000 < 1.6 * UNUSABLE_RATE
    assert {e.problem.split(" ")[1] for e in spoilt} == {"has", "block"}
    assert {e.block for e in spoilt} == {None, ""}
    assert any("more than one" in e.problem for e in spoilt)
    assert any(not text for text in replies)


def test_the_rate_of_useless_replies_can_be_set():
    never, always = SimulatedReflector(unusable=0.0), SimulatedReflector(unusable=1.0)
    assert all(extract_block(answer(never, REWRITE, seed)).usable for seed in range(100))
    assert not any(extract_block(answer(always, MERGE, seed)).usable for seed in range(100))


def test_a_retry_mends_a_useless_reply_almost_always():
    caller = ScriptedCaller(lambda spec: answer(SIM, spec.messages[-1].content, spec.seed))
    context = RewriteContext("i01", SEED, pairs())
    proposals = [
        asyncio.run(ModelReflector(caller, TERMS, PIN, Budget(4000), seed).rewrite(context))
        for seed in range(150)
    ]
    retried = [p for p in proposals if len(p.calls) == 2]
    assert 2 <= len(retried) <= 15
    assert sum(p.block is None for p in retried) <= 1


def test_proposals_pass_the_guard_are_rarely_alike_and_mostly_ask_for_something_new():
    check = guard()
    blocks = [extract_block(answer(SIM, REWRITE, seed)).block for seed in range(300)]
    usable = [block for block in blocks if block]
    assert {check.check(block, {}, (SEED,)) for block in usable} == {None}
    assert len(set(usable)) > 0.93 * len(usable)
    assert sum(bool(read_block(block) - read_block(SEED)) for block in usable) > 0.6 * len(usable)


def test_merges_pass_the_guard():
    blocks = {extract_block(answer(SIM, MERGE, seed)).block for seed in range(150)}
    assert {guard().check(block, {}, (SEED,)) for block in blocks if block} == {None}
    assert len(blocks) > 20


def test_an_inventory_is_found_in_the_words_of_the_reflector():
    blocks = [extract_block(answer(SIM, REWRITE, seed)).block or "" for seed in range(100)]
    with_inventory = [block for block in blocks if Skill.INVENTORY in read_block(block)]
    assert len(with_inventory) > 20
    assert len(set(with_inventory)) == len(with_inventory)


def test_max_edits_is_a_pin_parameter():
    one = ModelPin("sim/reflector", parameters={"max_edits": 1})
    assert complete(pin=one, seed=5) == complete(SimulatedReflector(Habits(1)), seed=5)
    several = [read_block(extract_block(complete(seed=s).text).block or "") for s in range(60)]
    single = [
        read_block(extract_block(complete(seed=s, pin=one).text).block or "") for s in range(60)
    ]
    assert max(map(len, several)) == 2
    assert max(map(len, single)) == 1


@pytest.mark.parametrize("parameters", [{"max_edit": 1}, {"max_edits": 0}, {"max_edits": "2"}])
def test_a_pin_parameter_it_does_not_know_is_an_error(parameters):
    with pytest.raises(BadInput, match="max_edits"):
        complete(pin=replace(PIN, parameters=parameters))


def test_a_reply_is_cut_at_the_token_cap():
    cut = complete(budget=Budget(5))
    assert (cut.finish, len(cut.text), cut.usage.completion) == (StopReason.LENGTH, 20, 5)
    assert complete().finish is StopReason.STOP


def test_usage_and_price_are_counted():
    priced = ModelPin("sim/reflector", 1.0, {}, 1.0, 10.0)
    reply = complete(pin=priced)
    assert reply.usage.prompt == -(-len(REWRITE) // 4)
    assert reply.usd == pytest.approx((reply.usage.prompt + 10 * reply.usage.completion) / 1e6)
    assert complete().usd == 0.0


def test_a_request_it_cannot_read_gets_a_reply_without_a_block():
    assert not extract_block(answer(SIM, "Write a poem.")).usable


@settings(max_examples=60)
@given(st.text(max_size=400), st.integers(0, 2**31 - 1))
def test_any_block_in_use_yields_a_reply(block, seed):
    text = rewrite_prompt(RewriteContext("i01", block, pairs()), TERMS).text
    answer(SIM, text, seed)
    assert BLOCK_SLOT in WHOLE.slots
