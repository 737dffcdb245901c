"""Is the student starved? Replies at the cap, reasoning spent, procedures not worked through.

A block that makes the judge enumerate the facts of a transcript is useless under a budget that has
no room for the list, and shines under a larger one; so a search at a starved budget throws the best
block away. This looks at what the replies took, block by block, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Any

from heldout.gepa.campaign import Campaign
from heldout.gepa.candidates import Candidate
from heldout.gepa.record.remarks import AllReplies, BlockReplies, Replies
from heldout.splits.benchmark import Note
from heldout.students.calls.store import CallStore
from heldout.students.calls.store_rows import StoredCall
from heldout.students.models.chat import StopReason
from heldout.students.simulated.skills import Skill, read_block

WORDS_A_FACT = 60
"""Words of dialogue for one noteworthy fact: the study's transcripts hold about 39 each."""
TOKENS_A_FACT = 8
"""Tokens that naming a fact and saying whether it is there takes at the very least."""
OFTEN = 0.05
"""Share of replies at the cap from which on it is worth a warning."""


def all_replies(campaign: Campaign, store: CallStore) -> AllReplies:
    """What the replies of a run took, by stage and by block."""
    stages: dict[str, list[StoredCall]] = {}
    for call in store.calls():
        stages.setdefault(call.stage, []).append(call)
    needed = tokens_needed(campaign.accept)
    return AllReplies(
        stages={name: Replies(**taken(calls)) for name, calls in sorted(stages.items())},
        blocks=tuple(_blocks(campaign, store, needed)),
    )


def taken(calls: Sequence[StoredCall]) -> dict[str, Any]:
    """The fields of `Replies`, from one call or more."""
    return {
        "count": len(calls),
        "at_cap": sum(call.reply.finish is StopReason.LENGTH for call in calls),
        "completion_median": median(call.reply.usage.completion for call in calls),
        "reasoning_median": median(call.reply.usage.reasoning for call in calls),
        "cap": max(call.max_tokens for call in calls),
    }


def tokens_needed(notes: Iterable[Note]) -> int:
    """The least tokens in which the facts of a transcript of usual length can be gone through."""
    words = [len(note.transcript.split()) for note in notes]
    return round(fmean(words) / WORDS_A_FACT * TOKENS_A_FACT) if words else 0


def starvation_lines(replies: AllReplies) -> list[str]:
    """What a person should know before she believes a null result; nothing if all had room."""
    lines = [
        f"{stage}: {found.at_cap / found.count:.0%} of {found.count} replies end at the cap of "
        f"{found.cap} tokens{_thought(found)}; a larger budget may change the result"
        for stage, found in replies.stages.items()
        if found.at_cap >= max(1, OFTEN * found.count)
    ]
    lines += [
        f"{block.candidate} asks for an inventory, but half of its replies take "
        f"{block.completion_median:g} tokens or fewer, and naming the facts of a transcript "
        f"takes at least {block.needed}: the procedure was not carried out"
        for block in replies.blocks
        if block.needed is not None and block.completion_median < block.needed
    ]
    return lines


def _thought(found: Replies) -> str:
    spent = found.reasoning_median
    return f", {spent:g} of them spent on reasoning in the median" if spent else ""


def _blocks(campaign: Campaign, store: CallStore, needed: int) -> Iterable[BlockReplies]:
    asked = campaign.evaluator.calls_by_block
    for candidate in campaign.pool:
        found = [store.get(key) for key in asked.get(candidate.sha256 or "", ())]
        calls = [call for call in found if call is not None]
        if calls:
            wants = needed if _asks_inventory(candidate) else None
            yield BlockReplies(candidate=candidate.id, needed=wants, **taken(calls))


def _asks_inventory(candidate: Candidate) -> bool:
    return candidate.block is not None and Skill.INVENTORY in read_block(candidate.block)
