"""The simulated judge, `sim/judge`, and the placebo, `sim/placebo`: they see their messages only.

The judge's score depends on its block; the placebo's differs from block to block and knows nothing
of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from statistics import NormalDist

from heldout.splits.randomness import uniform
from heldout.students.models.chat import Budget, ChatReply, ChatRequest, StopReason, Usage
from heldout.students.simulated import fact_contracts, note_contracts
from heldout.students.simulated.effects import EFFECTS
from heldout.students.simulated.prompt import (
    TOKENS_A_WORD,
    Draft,
    SeenPrompt,
    prompt_of,
    tokens_of,
)
from heldout.students.simulated.reading import digest_of
from heldout.students.simulated.working import Mind

JUDGE_ID = "sim/judge"
PLACEBO_ID = "sim/placebo"
_USUAL_WORDS = 150
_WORDS_RETOLD = 3
"""Words of each sentence of the note that a starved judge repeats."""

_CONTRACTS: tuple[tuple[str, Callable[[SeenPrompt, Mind], Draft]], ...] = (
    ('{"facts"', fact_contracts.facts),
    ('{"items"', fact_contracts.items),
    ('{"grades"', fact_contracts.audit),
    ('{"quotes"', fact_contracts.second_look),
    ('{"verdicts"', fact_contracts.check),
    ('{"statements"', note_contracts.statements),
    ('{"missing"', note_contracts.gap_list),
    ("VERDICT: PASS", note_contracts.verdict_line),
    ('"answer"', note_contracts.yes_no),
    ("from 1 to 5", note_contracts.one_to_five),
    ('"score"', note_contracts.whole_note),
)
"""What stands in an output contract, and who answers it; the first that fits."""

_NOT_UNDERSTOOD = Draft("I cannot tell what is asked of me.", 0.0)


class SimulatedJudge:
    """Reads transcript and note from the frame and answers its contract.

    Equal requests get equal replies. What it can do depends on the block, the budget, and at a
    temperature above 0 on lapses drawn from note and seed; `effects` holds the sizes.
    """

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer `request`; raises BadInput for a bad effect factor in the model's parameters."""
        return self.answer(request)

    def answer(self, request: ChatRequest) -> ChatReply:
        """The reply, without waiting."""
        prompt = prompt_of(request.messages)
        draft = _NOT_UNDERSTOOD
        if prompt is not None:
            mind = Mind.of(request, prompt.block)
            for mark, answerer in _CONTRACTS:
                if mark in prompt.contract:
                    draft = _starved(answerer(prompt, mind), prompt, mind)
                    break
        return reply_from(draft, request)


class SimulatedPlacebo:
    """Scores a note by what it is and by noise drawn from the whole message list.

    The first part grows a little with the length of the note and does not see the block, so every
    candidate has the same true quality; the noise differs from block to block and, above
    temperature 0, from seed to seed.
    """

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer `request`."""
        return self.answer(request)

    def answer(self, request: ChatRequest) -> ChatReply:
        """The reply, without waiting."""
        prompt = prompt_of(request.messages)
        if prompt is None or '"score"' not in prompt.contract:
            return reply_from(Draft("I cannot tell what is asked of me.", 0.0), request)
        score = _score(request, prompt.note)
        text = json.dumps({"assessment": "An overall impression.", "score": score})
        return reply_from(Draft(text, 0.0), request)


def _starved(draft: Draft, prompt: SeenPrompt, mind: Mind) -> Draft:
    """The reply of a judge whose budget is below the price of an answer.

    It tells the note over before it answers, and names what it was asked to look for; so long notes
    and demanding blocks are cut before the answer comes. From the base price on nothing changes.
    """
    if mind.budget.max_tokens >= mind.effects.prices.base or not prompt.note:
        return draft
    told = [" ".join(line.split()[:_WORDS_RETOLD]) for line in prompt.note.split(". ")]
    asked = [f"To look for: {skill.replace('_', ' ')}." for skill in sorted(mind.skills)]
    return replace(draft, text="\n".join([*asked, *told, draft.text]))


def reply_from(draft: Draft, request: ChatRequest) -> ChatReply:
    """`draft` under the token cap of the request, with its usage; the price is known: nothing."""
    budget = request.budget
    prompt_tokens = sum(tokens_of(message.content) for message in request.messages)
    written = tokens_of(draft.text)
    if written > budget.max_tokens:
        cut = _cut(draft.text, budget.max_tokens)
        usage = Usage(prompt=prompt_tokens, completion=budget.max_tokens)
        return ChatReply(cut, StopReason.LENGTH, usage, 0.0, request.pin.id, raw=cut)
    spent = min(budget.max_tokens, max(written, round(written + draft.working)))
    usage = Usage(
        prompt=prompt_tokens,
        completion=spent,
        reasoning=spent - written if _reasons(budget) else 0,
    )
    return ChatReply(draft.text, StopReason.STOP, usage, 0.0, request.pin.id, raw=draft.text)


def _reasons(budget: Budget) -> bool:
    return budget.reasoning_effort not in (None, "none")


def _cut(text: str, max_tokens: int) -> str:
    """The first words of `text`, as many as the cap allows."""
    kept = int(max_tokens / TOKENS_A_WORD)
    end = 0
    for _ in range(kept):
        while end < len(text) and text[end].isspace():
            end += 1
        while end < len(text) and not text[end].isspace():
            end += 1
    return text[:end]


def _score(request: ChatRequest, note: str) -> float:
    table = EFFECTS
    words = max(1, len(note.split()))
    centre = table.placebo_centre + table.placebo_slope * math.log(words / _USUAL_WORDS)
    messages = digest_of("\x1f".join(f"{m.role}\x1e{m.content}" for m in request.messages))
    point = uniform("placebo", messages, request.seed if request.pin.temperature > 0 else 0)
    noise = NormalDist(0.0, table.placebo_spread).inv_cdf(min(max(point, 1e-12), 1 - 1e-12))
    return round(min(10.0, max(0.0, centre + noise)), 1)
