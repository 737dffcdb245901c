"""The simulated judge, `sim/judge`: a deterministic program that sees only its messages."""

from __future__ import annotations

from collections.abc import Callable

from heldout.students.models.chat import Budget, ChatReply, ChatRequest, StopReason, Usage
from heldout.students.simulated.contracts import (
    audit,
    check,
    extract,
    gap_list,
    second_look,
    statements,
    verdict,
    whole_note,
)
from heldout.students.simulated.contracts.draft import TOKENS_A_WORD, Draft, tokens_of
from heldout.students.simulated.prompt import SeenPrompt, prompt_of
from heldout.students.simulated.working import Mind

JUDGE_ID = "sim/judge"

_CONTRACTS: tuple[tuple[str, Callable[[SeenPrompt, Mind], Draft]], ...] = (
    ('{"facts"', extract.facts),
    ('{"items"', extract.items),
    ('{"grades"', audit.answer),
    ('{"quotes"', second_look.answer),
    ('{"verdicts"', check.answer),
    ('{"statements"', statements.answer),
    ('{"missing"', gap_list.answer),
    ("VERDICT: PASS", verdict.verdict_line),
    ('"answer"', verdict.yes_no),
    ("from 1 to 5", verdict.one_to_five),
    ('"score"', whole_note.answer),
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
                    draft = answerer(prompt, mind)
                    break
        return reply_from(draft, request)


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
