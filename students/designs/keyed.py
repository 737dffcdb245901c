"""Asking for one answer an id: what a reply leaves open is asked for once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from heldout.students.calls.answering import CompletionClient, ReadReply, interpret, retry_spec
from heldout.students.calls.call import CallSpec
from heldout.students.contracts import Violation, ViolationKind
from heldout.students.fact_contracts import KeyedAnswers, KeyedContract
from heldout.students.student import Outcome


@dataclass(frozen=True)
class KeyedQuestion:
    """One call that asks about `asked`, and how its answers are read."""

    spec: CallSpec
    asked: tuple[str, ...]
    contract: KeyedContract
    run_seed: int


async def ask_keyed(
    caller: CompletionClient, question: KeyedQuestion
) -> ReadReply[Mapping[str, str]]:
    """An answer for every id, in the order asked.

    Answers of the first reply stand; the one retry only fills what is open. Ids still open after
    it are a contract violation. A refusal or a cut reply is not asked again.
    """
    first = await caller.call(question.spec)
    read = interpret(first, partial(question.contract.parse, asked=question.asked))
    given = {} if read.value is None else dict(read.value.given)
    if read.outcome in (Outcome.REFUSED, Outcome.TRUNCATED):
        return ReadReply(None, read.outcome, read.calls, read.detail)
    if len(given) == len(question.asked):
        return ReadReply(given, Outcome.OK, read.calls)
    still = tuple(key for key in question.asked if key not in given)
    spec = retry_spec(question.spec, first.reply, _complaint(read, still), question.run_seed)
    again = interpret(await caller.call(spec), partial(_all_of, question.contract, still))
    calls = read.calls + again.calls
    if again.value is None:
        return ReadReply(None, again.outcome, calls, again.detail)
    given |= again.value
    return ReadReply({key: given[key] for key in question.asked}, Outcome.OK, calls)


def _complaint(read: ReadReply[KeyedAnswers], still: Sequence[str]) -> str:
    """What the retry says: what could not be read, and which ids are open."""
    reason = f"{read.detail}; " if read.detail else ""
    return f"{reason}these ids still need an answer: {', '.join(still)}"


def _all_of(contract: KeyedContract, asked: Sequence[str], text: str) -> dict[str, str] | Violation:
    """Answers for all of `asked`, or the violation that names those missing."""
    keyed = contract.parse(text, asked)
    if isinstance(keyed, Violation):
        return keyed
    if keyed.unanswered:
        return Violation(ViolationKind.UNANSWERED, f"no answer for {', '.join(keyed.unanswered)}")
    return dict(keyed.given)
