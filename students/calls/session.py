"""A judging session: the one place where store, ledger, models and caller are opened together.

Campaigns, `heldout judge` and the practitioner's commands all judge in one of these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from heldout.splits.errors import HardCapReached, HeldoutError, Unanswered
from heldout.students.calls.caller import Caller, never
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.retry import CONCURRENCY, Retry
from heldout.students.calls.store import CallStore, Reuse
from heldout.students.models.chat import ChatModel
from heldout.students.models.clients import open_models
from heldout.students.models.pins import PinnedModel

Result = TypeVar("Result")


@dataclass(frozen=True)
class JudgingSession:
    """One process that judges with one store; coroutines that make calls run in `runner`."""

    store: CallStore
    ledger: Ledger
    caller: Caller
    runner: asyncio.Runner


@contextmanager
def open_judging(  # noqa: PLR0913
    url: str,
    run_id: str,
    models: Iterable[PinnedModel],
    simulated: Mapping[str, ChatModel],
    *,
    caps: Caps | None = None,
    ledger: Ledger | None = None,
    concurrency: int = CONCURRENCY,
    reuse: Reuse | str = Reuse.READ_WRITE,
    retry: Retry | None = None,
    stop: Callable[[], str | None] = never,
) -> Iterator[JudgingSession]:
    """Open the store at `url` for `run_id`, and the models; close all of it whatever happens.

    What the run has spent before counts against `caps`, or against the `ledger` of several
    sessions. `simulated` holds the in-process models by id. Raises BadInput for a store that cannot
    be opened, KeyError for a simulated model that is not there.
    """
    with ExitStack() as stack:
        store = stack.enter_context(closing(CallStore(url, run_id, reuse)))
        ledger = ledger or Ledger(caps or Caps())
        ledger.restore(store.calls())
        runner = stack.enter_context(asyncio.Runner())
        # Clients hold connections of the loop that opened them, so they are closed in it too.
        opening = open_models(models, simulated)
        opened = runner.run(opening.__aenter__())
        stack.callback(lambda: runner.run(opening.__aexit__(None, None, None)))
        caller = Caller(opened, store, ledger, concurrency=concurrency, stop=stop, retry=retry)
        try:
            yield JudgingSession(store, ledger, caller, runner)
        except HeldoutError as error:
            runner.run(caller.drain())
            if isinstance(error, HardCapReached):
                error.abandoned = len(caller.counts.abandoned)
            raise
        # A question may have failed while others of its judgement were still on their way.
        runner.run(caller.drain())


async def all_answers(questions: Iterable[Awaitable[Result]]) -> list[Result | Unanswered]:
    """What came of all `questions`, asked at once: their results, or why one item has none.

    Raises the gravest of any other faults, once every call in flight has come back, so that its
    reply is stored.
    """
    answers = await asyncio.gather(*questions, return_exceptions=True)
    faults = [
        answer
        for answer in answers
        if isinstance(answer, BaseException) and not isinstance(answer, Unanswered)
    ]
    if faults:
        raise max(faults, key=lambda fault: getattr(fault, "exit_status", 0))
    return [
        answer
        for answer in answers
        if isinstance(answer, Unanswered) or not isinstance(answer, BaseException)
    ]
