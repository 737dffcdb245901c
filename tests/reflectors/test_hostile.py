"""Reflectors that try to carry their input into the block; nothing of it may get through."""

import asyncio

import pytest
from tests.reflectors.judged import BUDGET, PIN, SEED, TERMS, Hostile, guard, pairs
from tests.support.notes import consultation
from tests.support.scripted import ScriptedCaller

from heldout.reflectors.model import ModelReflector
from heldout.reflectors.reflector import MergeContext, RejectReason, RewriteContext

GUARD = guard()


def proposals(hostile):
    """What a rewrite and a merge yield when `hostile` answers."""
    caller = ScriptedCaller(lambda spec: hostile.copy(spec.messages[-1].content))
    reflector = ModelReflector(caller, TERMS, PIN, BUDGET, run_seed=1)
    rewrite = RewriteContext("i01", SEED, pairs((0, 1)))
    merge = MergeContext("i02", SEED, "Look again.", pairs((0,)), pairs((1,)))
    return asyncio.run(reflector.rewrite(rewrite)), asyncio.run(reflector.merge(merge))


@pytest.mark.parametrize("flat", [False, True])
def test_a_reflector_that_copies_its_whole_input_is_rejected_as_overlap(flat):
    for proposal in proposals(Hostile(flat=flat)):
        assert proposal.block is not None
        rejection = GUARD.check(proposal.block, {}, (SEED,))
        assert rejection.reason is RejectReason.OVERLAP
        assert rejection.withholds_text


def test_whatever_slice_of_the_input_is_copied_no_eight_words_of_a_note_get_through():
    note_words = [
        " ".join(n.text.split()[k : k + 8])
        for n in consultation(0).notes
        for k in range(len(n.text.split()) - 7)
    ]
    reasons = set()
    for start in range(0, 1500, 37):
        for proposal in proposals(Hostile(start, start + 60)):
            rejection = GUARD.check(proposal.block, {}, (SEED,))
            if any(run in (proposal.block or "") for run in note_words):
                assert rejection.reason is RejectReason.OVERLAP
            reasons.add(rejection and rejection.reason)
    assert RejectReason.OVERLAP in reasons
    assert reasons - {RejectReason.OVERLAP}
