"""The caller: the one way to a model.

It asks each question once, however many judgements want the answer; looks in the store first;
keeps the hard caps by reservation; bounds what is in flight; asks again after a fault of
infrastructure, under a deadline and without changing the question; and stops for good when
everything fails. Calls in flight are never abandoned: a stop lets them finish and be stored.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heldout.splits.errors import (
    CallMissing,
    CallRefused,
    CircuitOpen,
    InfrastructureFailure,
    StopRequested,
)
from heldout.splits.randomness import uniform
from heldout.students.calls import CallSpec
from heldout.students.chat import ChatModel, ChatReply
from heldout.students.ledger import Ledger, Reservation
from heldout.students.store import CallStore, Reuse
from heldout.students.store_rows import StoredCall

STOP_POLL_S = 0.25
"""How soon a call that waits to ask again notices that the run should stop."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How a call is asked again after a fault; all times in seconds.

    A call gives up at `deadline_s`, one request at `request_s`. Waits grow from `base_s` by
    doubling up to `longest_s`, each scaled by a factor in [0.5, 1) drawn from the call's key. The
    breaker opens after `breaker_failures` requests in a row failed, the first of them at least
    `breaker_s` ago.
    """

    deadline_s: float = 600.0
    request_s: float = 180.0
    base_s: float = 0.5
    longest_s: float = 30.0
    breaker_failures: int = 20
    breaker_s: float = 20.0

    def wait_s(self, key: str, failures: int, retry_after: float | None) -> float:
        """How long to wait after the call's `failures`-th fault (from 1)."""
        drawn = min(self.longest_s, self.base_s * 2.0 ** min(failures - 1, 30))
        drawn *= 0.5 + uniform(key, "backoff", failures) / 2
        return max(drawn, retry_after or 0.0)


@dataclass
class CallCounts:
    """What a session did: calls answered by a model, from the store, and faults by kind.

    `requests` are all that were sent; `requests - made` of them failed.
    """

    requests: int = 0
    made: int = 0
    from_store: int = 0
    faults: Counter[str] = field(default_factory=Counter)


def never() -> str | None:
    """A stop condition that never holds."""
    return None


class Caller:
    """Makes the calls of one run.

    `models` maps model ids to models. `concurrency` bounds the requests in flight at each
    provider (what stands before the first `/` of an id). `stop` is asked before every call and
    names who wants the run to stop, or gives None.
    """

    def __init__(
        self,
        models: Mapping[str, ChatModel],
        store: CallStore,
        ledger: Ledger,
        *,
        concurrency: int,
        stop: Callable[[], str | None] = never,
        retry: Retry | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self.store, self.ledger = store, ledger
        self.counts = CallCounts()
        self._models, self._stop, self._retry = models, stop, retry or Retry()
        self._slots = {_provider(name): asyncio.Semaphore(concurrency) for name in models}
        self._in_flight: dict[str, asyncio.Task[StoredCall]] = {}
        self._breaker = _Breaker(self._retry)

    async def call(self, spec: CallSpec) -> StoredCall:
        """The reply to `spec`, from the store or bought now.

        Raises StopRequested, HardCapReached, CircuitOpen or StoreUnavailable, after which the
        run can be resumed; InfrastructureFailure when the deadline passed without a reply;
        CallRefused when asking again is no use; CallMissing in a replay.
        """
        self._check()
        task = self._in_flight.get(spec.key)
        if task is None:
            stored = self.store.get(spec.key)
            if stored is not None:
                self.counts.from_store += 1
                self.ledger.charge(stored)
                return stored
            if self.store.reuse is Reuse.REPLAY:
                raise CallMissing(describe(spec), self.store.name)
            task = asyncio.create_task(self._buy(spec))
            self._in_flight[spec.key] = task
            task.add_done_callback(lambda done: self._landed(spec.key, done))
        # A cancelled judgement must not take the paid call with it.
        return await asyncio.shield(task)

    async def drain(self) -> None:
        """Wait until every call in flight has landed, whatever became of it."""
        while self._in_flight:
            await asyncio.wait(list(self._in_flight.values()))

    def _landed(self, key: str, task: asyncio.Task[StoredCall]) -> None:
        del self._in_flight[key]
        if not task.cancelled():
            # Whoever wanted the call gets the error; with nobody left it is not «never retrieved».
            task.exception()

    def _check(self) -> None:
        by = self._stop()
        if by:
            raise StopRequested(by)
        self._breaker.check()

    async def _buy(self, spec: CallSpec) -> StoredCall:
        slots = self._slots[_provider(spec.pin.id)]
        deadline = time.monotonic() + self._retry.deadline_s
        reservation: Reservation | None = None
        failures = 0
        try:
            while True:
                async with slots:
                    self._check()
                    reservation = reservation or self.ledger.reserve(spec)
                    if reservation is not None:
                        try:
                            return await self._ask(spec, reservation)
                        except InfrastructureFailure as error:
                            failures += 1
                            wait = self._failed(spec, failures, error, deadline)
                # Both waits are outside the slot, or calls that wait could block those that end.
                await (self._pause(wait) if reservation else self.ledger.changed())
        except BaseException:
            if reservation is not None:
                self.ledger.refund(reservation)
            raise

    async def _pause(self, wait: float) -> None:
        """Sleep `wait` seconds, or until the run is asked to stop."""
        end = time.monotonic() + wait
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, STOP_POLL_S))
            self._check()

    async def _ask(self, spec: CallSpec, reservation: Reservation) -> StoredCall:
        started = time.monotonic()
        self.counts.requests += 1
        reply = await self._reply(spec)
        self._breaker.closed()
        stored = self.store.put(
            spec,
            reply,
            latency_s=time.monotonic() - started,
            elapsed_s=self.ledger.wall_s,
        )
        self.counts.made += 1
        self.ledger.settle(reservation, stored)
        return stored

    async def _reply(self, spec: CallSpec) -> ChatReply:
        try:
            async with asyncio.timeout(self._retry.request_s):
                return await self._models[spec.pin.id].complete(spec.request)
        except TimeoutError:
            raise InfrastructureFailure(
                f"no reply within {self._retry.request_s:g} s", kind="timeout"
            ) from None

    def _failed(
        self, spec: CallSpec, failures: int, error: InfrastructureFailure, deadline: float
    ) -> float:
        """Count a fault and say how long to wait; raises when waiting is no use."""
        self.counts.faults[error.kind] += 1
        if not error.transient:
            raise CallRefused(describe(spec), error.kind, str(error)) from error
        self._breaker.failed(error)
        self._check()
        wait = self._retry.wait_s(spec.key, failures, error.retry_after)
        if time.monotonic() + wait > deadline:
            raise InfrastructureFailure(
                f"{describe(spec)}: gave up after {failures} requests: {error}", kind=error.kind
            ) from error
        return wait


class _Breaker:
    """Counts failures in a row; once open it stays open."""

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._streak, self._since = 0, 0.0
        self._open: tuple[int, str] | None = None

    def check(self) -> None:
        if self._open:
            raise CircuitOpen(*self._open)

    def closed(self) -> None:
        self._streak = 0

    def failed(self, error: InfrastructureFailure) -> None:
        now = time.monotonic()
        if self._streak == 0:
            self._since = now
        self._streak += 1
        lasted = now - self._since >= self._retry.breaker_s
        if lasted and self._streak >= self._retry.breaker_failures:
            self._open = (self._streak, str(error))


def _provider(model: str) -> str:
    return model.partition("/")[0]


def describe(spec: CallSpec) -> str:
    """A call in words, without its text."""
    words = f"{spec.stage} of {spec.item} by {spec.pin.id}, sample {spec.sample}"
    return f"{words}, attempt {spec.attempt}" if spec.attempt else words
