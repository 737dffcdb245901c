"""What every judge does with a call: make it, read it, ask once more, name how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, Protocol, TypeVar

from heldout.splits.benchmark import Note
from heldout.splits.randomness import call_seed
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.contracts import Violation
from heldout.students.fact_contracts import KeyedContract
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget, ChatReply, Message, ModelPin, StopReason
from heldout.students.structured import constrained
from heldout.students.student import Judgement, Outcome

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Completion(Protocol):
    """A call that has its reply: `key` is its identity in the store."""

    @property
    def key(self) -> str:
        """Identity of the call."""

    @property
    def reply(self) -> ChatReply:
        """What came back."""


class ReadableContract(Protocol[T_co]):
    """What an answer must hold. One that has `schema` as well can be enforced (`structured`)."""

    def parse(self, text: str) -> T_co | Violation:
        """The answer in `text`."""


class CompletionClient(Protocol):
    """Whatever makes calls: a `Caller` in a campaign, a script in a test."""

    async def call(self, spec: CallSpec) -> Completion:
        """The stored reply of `spec`, bought if it is not there yet."""


@dataclass(frozen=True)
class RequestBuilder:
    """How one model is asked about notes: seeds follow from `run_seed`, note, stage and sample."""

    pin: ModelPin
    caller: CompletionClient
    run_seed: int
    occasion: str = ""

    def spec(self, stage: Stage, note: Note, prompt: str, budget: Budget, sample: int) -> CallSpec:
        """The call of `stage` about `note`."""
        return CallSpec(
            stage=stage,
            item=note.id,
            messages=(Message("user", prompt),),
            pin=self.pin,
            budget=budget,
            seed=call_seed(self.run_seed, note.id, stage, sample),
            sample=sample,
            occasion=self.occasion,
        )


class NoCalls:
    """Stands for the caller while a student is only looked at (frame, range, calls)."""

    async def call(self, spec: CallSpec) -> Completion:
        """Nothing can be asked."""
        raise RuntimeError(f"a {spec.stage} call of a student that was only to be looked at")


@dataclass(frozen=True, slots=True)
class ReadReply(Generic[T]):
    """What one question yielded.

    `value` is None unless `outcome` is `ok`; `calls` are the keys of the one or two calls made.
    """

    value: T | None
    outcome: Outcome
    calls: tuple[str, ...]
    detail: str = ""

    def failed(self, frame: Frame, facts_digest: str | None = None) -> Judgement:
        """The judgement, in the frame asked, of a note whose question had no usable answer."""
        return Judgement(
            None,
            self.outcome,
            self.calls,
            self.detail,
            facts_digest=facts_digest,
            frame_sha256=frame.sha256,
        )


async def ask(
    caller: CompletionClient,
    spec: CallSpec,
    contract: ReadableContract[T],
    run_seed: int,
    *,
    counts_at_cap: bool = True,
) -> ReadReply[T]:
    """Make the call; after a contract violation ask once more, naming what was wrong.

    The answer's structure goes with the call where the pin asks for it. `counts_at_cap` as in
    `interpret`.
    """
    asked = structured(spec, contract)
    first = await caller.call(asked)
    read = interpret(first, contract.parse, counts_at_cap=counts_at_cap)
    if read.outcome is not Outcome.CONTRACT_VIOLATION:
        return read
    retry = retry_spec(asked, first.reply, read.detail, run_seed)
    second = interpret(await caller.call(retry), contract.parse, counts_at_cap=counts_at_cap)
    return replace(second, calls=read.calls + second.calls)


def structured(spec: CallSpec, contract: object) -> CallSpec:
    """`spec` with the structure of an answer of `contract`, where its pin asks for one."""
    pin = constrained(spec.pin, contract, spec.messages, spec.budget.max_tokens)
    return spec if pin is spec.pin else replace(spec, pin=pin)


def interpret(
    answered: Completion,
    parse: Callable[[str], T | Violation],
    *,
    counts_at_cap: bool = True,
) -> ReadReply[T]:
    """The outcome of one reply: the one way from a reply to an answer.

    A reply at the token cap counts if its answer is complete; not so with `counts_at_cap` off, for
    lists and texts that a model might have gone on with.
    """
    reply, calls = answered.reply, (answered.key,)
    if reply.finish is StopReason.FILTER:
        return ReadReply(None, Outcome.REFUSED, calls, "content filter")
    cut = reply.finish is StopReason.LENGTH
    value = parse(reply.text)
    if not isinstance(value, Violation) and (counts_at_cap or not cut):
        return ReadReply(value, Outcome.OK, calls)
    if cut:
        return ReadReply(None, Outcome.TRUNCATED, calls, "the reply ends at the token cap")
    assert isinstance(value, Violation)
    return ReadReply(None, Outcome.CONTRACT_VIOLATION, calls, value.detail)


def retry_spec(spec: CallSpec, reply: ChatReply, wrong: str, run_seed: int) -> CallSpec:
    """The one targeted retry: the same conversation, the reply, and what was wrong with it."""
    complaint = (
        f"Your reply could not be used: {wrong}. "
        "Answer again in exactly the format asked for, and write nothing after the answer."
    )
    said = (Message("assistant", reply.text),) if reply.text.strip() else ()
    return replace(
        spec,
        stage=Stage.RETRY,
        messages=(*spec.messages, *said, Message("user", complaint)),
        seed=call_seed(run_seed, spec.item, Stage.RETRY, spec.sample),
        attempt=spec.attempt + 1,
    )


async def ask_keyed(
    caller: CompletionClient,
    spec: CallSpec,
    contract: KeyedContract,
    asked: Sequence[str],
    run_seed: int,
) -> ReadReply[Mapping[str, str]]:
    """An answer of `contract` for every id of `asked`, in this order.

    Answers of the first reply stand; the one retry only fills what is open. Ids still open after
    it are a contract violation. A refusal or a cut reply is not asked again.
    """
    first = await caller.call(structured(spec, contract.of(asked)))
    read = interpret(first, partial(contract.parse, asked=asked))
    given = {} if read.value is None else dict(read.value.given)
    if read.outcome in (Outcome.REFUSED, Outcome.TRUNCATED):
        return ReadReply(None, read.outcome, read.calls, read.detail)
    if len(given) == len(asked):
        return ReadReply(given, Outcome.OK, read.calls)
    still = tuple(key for key in asked if key not in given)
    reason = f"{read.detail}; " if read.detail else ""
    complaint = f"{reason}these ids still need an answer: {', '.join(still)}"
    retry = structured(retry_spec(spec, first.reply, complaint, run_seed), contract.of(still))
    again = interpret(await caller.call(retry), partial(contract.parse_all, asked=still))
    calls = read.calls + again.calls
    if again.value is None:
        return ReadReply(None, again.outcome, calls, again.detail)
    given |= again.value
    return ReadReply({key: given[key] for key in asked}, Outcome.OK, calls)
