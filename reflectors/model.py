"""The reflector that asks a chat model: one request, at most one more when a reply has no block."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout.reflectors.payload import MIN_PAYLOAD_TOKENS
from heldout.reflectors.prompts import (
    Layout,
    Prompt,
    Terms,
    merge_prompt,
    retry_prompt,
    rewrite_prompt,
)
from heldout.reflectors.reflector import MergeContext, Proposal, RewriteContext
from heldout.reflectors.reply import BlockContract
from heldout.splits.randomness import call_seed
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.completion import CompletionClient, interpret, structured
from heldout.students.models.chat import Budget, Message, ModelPin, Structured
from heldout.students.structured import FIELDS

ATTEMPTS = 2
"""The request and one repetition."""


@dataclass(frozen=True, slots=True)
class ModelReflector:
    """Asks `pin` within `budget` for new blocks.

    `terms` hold what a proposal must respect; `run_seed` and the name of the proposal give each
    call its seed. A reply without a usable block, or one that was cut off, is asked for once more,
    as a call of its own with attempt 1; then the proposal has no block (or the empty one that came
    back). A pin whose answers are structured is asked for a JSON object.
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
        prompt = rewrite_prompt(context, self._terms, in_object=self._in_object)
        return await self._propose(Stage.REFLECT, context.item, prompt)

    async def merge(self, context: MergeContext) -> Proposal:
        """Propose a block that keeps what each of two blocks wins."""
        prompt = merge_prompt(context, self._terms, in_object=self._in_object)
        return await self._propose(Stage.MERGE, context.item, prompt)

    @property
    def _in_object(self) -> bool:
        return self.pin.structured is not Structured.NONE and not FIELDS & set(self.pin.parameters)

    @property
    def _terms(self) -> Terms:
        """The terms; the first order of a request knows no object."""
        return replace(self.terms, layout=Layout.BLOCK_LAST) if self._in_object else self.terms

    async def _propose(self, stage: Stage, item: str, prompt: Prompt) -> Proposal:
        text, keys, block = prompt.text, [], None
        contract = BlockContract(self.terms.cap.characters, self._in_object)
        for attempt in range(ATTEMPTS):
            spec = structured(self._spec(stage, item, text, attempt), contract)
            answered = await self.caller.call(spec)
            read = interpret(answered, contract.parse, counts_at_cap=False)
            keys.append(answered.key)
            block = None if read.value is None else read.value.block
            if block:
                break
            problem = read.detail if read.value is None else read.value.problem
            text = retry_prompt(prompt, problem)
        return Proposal(
            block, tuple(keys), truncated=len(prompt.left_out), left_out=prompt.left_out
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
