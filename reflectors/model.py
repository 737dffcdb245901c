"""The reflector that asks a chat model: one request, at most one more when a reply has no block."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.reflectors.payload import MIN_PAYLOAD_TOKENS
from heldout.reflectors.prompts import Prompt, Terms, merge_prompt, retry_prompt, rewrite_prompt
from heldout.reflectors.reflector import MergeContext, Proposal, RewriteContext
from heldout.reflectors.reply import ExtractedBlock, extract_block
from heldout.splits.randomness import call_seed
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.completion import CompletionClient
from heldout.students.models.chat import Budget, Message, ModelPin

ATTEMPTS = 2
"""The request and one repetition."""


@dataclass(frozen=True, slots=True)
class ModelReflector:
    """Asks `pin` within `budget` for new blocks.

    `terms` hold what a proposal must respect; `run_seed` and the name of the proposal give each
    call its seed. A reply without a usable block is asked for once more, as a call of its own
    with attempt 1; then the proposal has no block (or the empty one that came back).
    """

    caller: CompletionClient
    terms: Terms
    pin: ModelPin
    budget: Budget
    run_seed: int

    def __post_init__(self) -> None:
        # A merge halves the room between two sides, each of which must hold a trace.
        if self.terms.payload_tokens < 2 * MIN_PAYLOAD_TOKENS:
            raise ValueError(
                f"payload_tokens is {self.terms.payload_tokens}, "
                f"at least {2 * MIN_PAYLOAD_TOKENS} are needed"
            )

    async def rewrite(self, context: RewriteContext) -> Proposal:
        """Propose a block that mends the failures of `context.pairs`."""
        return await self._propose(Stage.REFLECT, context.item, rewrite_prompt(context, self.terms))

    async def merge(self, context: MergeContext) -> Proposal:
        """Propose a block that keeps what each of two blocks wins."""
        return await self._propose(Stage.MERGE, context.item, merge_prompt(context, self.terms))

    async def _propose(self, stage: Stage, item: str, prompt: Prompt) -> Proposal:
        text, keys, extraction = prompt.text, [], ExtractedBlock(None)
        for attempt in range(ATTEMPTS):
            answered = await self.caller.call(self._spec(stage, item, text, attempt))
            keys.append(answered.key)
            extraction = extract_block(answered.reply.text)
            if extraction.usable:
                break
            text = retry_prompt(prompt.text, extraction.problem)
        return Proposal(
            extraction.block, tuple(keys), truncated=len(prompt.left_out), left_out=prompt.left_out
        )

    def _spec(self, stage: Stage, item: str, text: str, attempt: int) -> CallSpec:
        return CallSpec(
            stage=stage,
            item=item,
            messages=(Message("user", text),),
            pin=self.pin,
            budget=self.budget,
            seed=call_seed(self.run_seed, item, stage, 0),
            attempt=attempt,
        )
