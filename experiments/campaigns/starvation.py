"""Is the student starved? Replies at the cap, reasoning spent, procedures not worked through.

A block that makes the judge enumerate the facts of a transcript is useless under a budget that has
no room for the list, and shines under a larger one; so a search at a starved budget throws the best
block away. This looks at what the replies took, block by block, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from heldout.gepa.campaign import Campaign
from heldout.gepa.candidates import Candidate
from heldout.splits.benchmark import Note
from heldout.students.calls.store import CallStore
from heldout.students.calls.store_rows import StoredCall
from heldout.students.models.chat import FinishReason
from heldout.students.simulated.skills import Skill, read_block

WORDS_A_FACT = 60
"""Words of dialogue for one noteworthy fact: the study's transcripts hold about 39 each."""
TOKENS_A_FACT = 8
"""Tokens that naming a fact and saying whether it is there takes at the very least."""
OFTEN = 0.05
"""Share of replies at the cap from which on it is worth a warning."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Replies:
    """What some replies took. Medians are tokens; `at_cap` counts replies cut at their cap."""

    count: int
    at_cap: int
    completion: float
    reasoning: float
    cap: int

    @classmethod
    def of(cls, calls: Sequence[StoredCall]) -> Replies | None:
        """Of these calls; None where there are none."""
        if not calls:
            return None
        return cls(
            count=len(calls),
            at_cap=sum(call.reply.finish is FinishReason.LENGTH for call in calls),
            completion=median(call.reply.usage.completion for call in calls),
            reasoning=median(call.reply.usage.reasoning for call in calls),
            cap=max(call.budget.max_tokens for call in calls),
        )

    def to_json(self) -> Json:
        """As it stands on record."""
        return {
            "count": self.count,
            "at_cap": self.at_cap,
            "completion_median": self.completion,
            "reasoning_median": self.reasoning,
            "cap": self.cap,
        }


def replies_body(campaign: Campaign, store: CallStore) -> Json:
    """What the replies of a run took, by stage and by block.

    `needed` of a block that asks for an inventory is the least number of tokens in which the facts
    of a transcript can be gone through, None for other blocks.
    """
    stages: dict[str, list[StoredCall]] = {}
    for call in store.calls():
        stages.setdefault(call.stage.value, []).append(call)
    by_stage = {name: Replies.of(calls) for name, calls in sorted(stages.items())}
    needed = tokens_needed(campaign.parts.accept)
    return {
        "stages": {name: found.to_json() for name, found in by_stage.items() if found},
        "blocks": list(_blocks(campaign, store, needed)),
    }


def tokens_needed(notes: Iterable[Note]) -> int:
    """The least tokens in which the facts of a transcript of usual length can be gone through."""
    words = [len(note.transcript.split()) for note in notes]
    return round(fmean(words) / WORDS_A_FACT * TOKENS_A_FACT) if words else 0


def starvation_lines(replies: Mapping[str, Any]) -> list[str]:
    """What a person should know before she believes a null result; nothing if all had room."""
    lines = []
    for stage, found in replies["stages"].items():
        if found["at_cap"] >= max(1, OFTEN * found["count"]):
            share = found["at_cap"] / found["count"]
            lines.append(
                f"{stage}: {share:.0%} of {found['count']} replies end at the cap of "
                f"{found['cap']} tokens{_thought(found)}; a larger budget may change the result"
            )
    lines += [
        f"{block['candidate']} asks for an inventory, but half of its replies take "
        f"{block['completion_median']:g} tokens or fewer, and naming the facts of a transcript "
        f"takes at least {block['needed']}: the procedure was not carried out"
        for block in replies["blocks"]
        if block["needed"] is not None and block["completion_median"] < block["needed"]
    ]
    return lines


def _thought(found: Mapping[str, Any]) -> str:
    spent = found["reasoning_median"]
    return f", {spent:g} of them spent on reasoning in the median" if spent else ""


def _blocks(campaign: Campaign, store: CallStore, needed: int) -> Iterable[Json]:
    asked = campaign.evaluator.calls_by_block
    for candidate in campaign.pool:
        calls = [store.get(key) for key in asked.get(candidate.sha256 or "", ())]
        found = Replies.of([call for call in calls if call is not None])
        if found is not None:
            wants = _asks_inventory(candidate)
            yield {
                "candidate": candidate.id,
                **found.to_json(),
                "needed": needed if wants else None,
            }


def _asks_inventory(candidate: Candidate) -> bool:
    return candidate.block is not None and Skill.INVENTORY in read_block(candidate.block)
