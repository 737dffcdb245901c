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
    InfrastructureFailure,
    RefusedAtStart,
    StopRequested,
    StoreUnavailable,
)
from heldout.students.calls.call import CallSpec, describe
from heldout.students.calls.ledger import Ledger, Reservation
from heldout.students.calls.retry import Breaker, Retry
from heldout.students.calls.store import CallStore, Reuse
from heldout.students.calls.store_rows import StoredCall
from heldout.students.calls.warming import Prefixes
from heldout.students.models.chat import ChatModel, ChatReply, ConnectedModel

STOP_POLL_S = 0.25
"""How soon a call that waits to ask again notices that the run should stop."""


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
        self._shares = store.reuse is Reuse.READ_WRITE
        self._connected = {n for n, model in models.items() if isinstance(model, ConnectedModel)}
        self._in_flight: dict[str, _Flight] = {}
        self._over: StoreUnavailable | CallRefused | None = None
        self._breaker = Breaker(self._retry)
        self._prefixes = Prefixes()

    async def call(self, spec: CallSpec) -> StoredCall:
        """The reply to `spec`, from the store or bought now.

        Raises StopRequested, HardCapReached, CircuitOpen or StoreUnavailable, after which the
        run can be resumed; InfrastructureFailure when the deadline passed without a reply;
        CallRefused when asking again is no use; CallMissing in a replay.
        """
        self._check()
        flight = self._in_flight.get(spec.key)
        if flight is None:
            stored = self._from_store(spec)
            if stored is not None:
                return stored
            if self.store.reuse is Reuse.REPLAY:
                raise CallMissing(describe(spec), self.store.name)
            flight = self._take_off(spec)
        return await flight.wait()

    async def drain(self) -> None:
        """Wait until every call in flight has landed, whatever became of it.

        To be awaited before the event loop ends: closing a loop cancels what still runs in it.
        """
        while self._in_flight:
            await asyncio.wait([flight.task for flight in self._in_flight.values()])

    def _take_off(self, spec: CallSpec) -> _Flight:
        flight = _Flight()
        flight.task = asyncio.create_task(self._buy(spec, flight))
        flight.task.add_done_callback(lambda _: self._landed(spec.key, flight))
        self._in_flight[spec.key] = flight
        return flight

    def _landed(self, key: str, flight: _Flight) -> None:
        del self._in_flight[key]
        if not flight.task.cancelled():
            # Whoever wanted the call gets the error; with nobody left it is not «never retrieved».
            flight.task.exception()

    def _check(self) -> None:
        by = self._stop()
        if by:
            raise StopRequested(by)
        if self._over is not None:
            raise self._over.with_traceback(None)
        self._breaker.check()

    async def _buy(self, spec: CallSpec, flight: _Flight) -> StoredCall:
        slots = self._slots[_provider(spec.pin.id)]
        reservation: Reservation | None = None
        stored: StoredCall | None = None
        prefix = await self._prefixes.turn(spec) if spec.pin.id in self._connected else None
        try:
            while stored is None:
                async with slots:
                    self._check()
                    mine = self._lease(spec)
                    # The neighbour may have stored it between our look and our lease.
                    stored = self._from_store(spec) if self._shares else None
                    if mine and stored is None:
                        reservation = reservation or self.ledger.reserve(spec)
                        stored = await self._ask(spec, flight) if reservation else None
                if stored is None:
                    # Outside the slot, or calls that wait could block those that end.
                    await self._wait(flight, mine, reservation)
        finally:
            if reservation is not None:
                self.ledger.refund(reservation)
            if prefix is not None:
                self._prefixes.warmed(prefix, answered=stored is not None)
            self.store.release(spec)
        return stored

    def _from_store(self, spec: CallSpec) -> StoredCall | None:
        stored = self.store.get(spec.key, afresh=bool(spec.occasion))
        if stored is not None:
            self.counts.from_store += 1
            self.ledger.charge(stored)
        return stored

    def _lease(self, spec: CallSpec) -> bool:
        """True if the call may be sent: no other run on this store is buying it."""
        if spec.pin.id not in self._connected and not self._shares:
            return True
        return self.store.lease(spec, self._retry.request_s + self._retry.longest_s)

    async def _wait(self, flight: _Flight, mine: bool, reservation: Reservation | None) -> None:
        """Wait for the run that is buying the call, for room under a cap, or to ask again."""
        if not mine:
            await asyncio.sleep(STOP_POLL_S)
        elif reservation is None:
            await self.ledger.changed()
        else:
            await self._pause(flight)

    async def _pause(self, flight: _Flight) -> None:
        """Sleep until the call may be sent again, or until the run is asked to stop."""
        end = time.monotonic() + flight.wait_s
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, STOP_POLL_S))
            self._check()
        flight.used_s += flight.wait_s

    async def _ask(self, spec: CallSpec, flight: _Flight) -> StoredCall | None:
        """Send one request; None after a fault that is worth another one."""
        started = time.monotonic()
        self.counts.requests += 1
        flight.asking = True
        try:
            reply = await self._reply(spec)
        except InfrastructureFailure as error:
            flight.used_s += time.monotonic() - started
            self._failed(spec, flight, error)
            return None
        finally:
            flight.asking = False
        self._breaker.succeeded()
        latency_s = time.monotonic() - started
        try:
            stored = self.store.put(spec, reply, latency_s=latency_s, elapsed_s=self.ledger.wall_s)
        except StoreUnavailable as error:
            # What cannot be stored is not bought.
            self._over = error
            raise
        self.counts.made += 1
        self.ledger.charge(stored)
        return stored

    async def _reply(self, spec: CallSpec) -> ChatReply:
        try:
            async with asyncio.timeout(self._retry.request_s):
                return await self._models[spec.pin.id].complete(spec.request)
        except TimeoutError:
            raise InfrastructureFailure(
                f"no reply within {self._retry.request_s:g} s", kind="timeout"
            ) from None

    def _failed(self, spec: CallSpec, flight: _Flight, error: InfrastructureFailure) -> None:
        """Count a fault and set how long to wait; raises when waiting is no use."""
        self.counts.faults[error.kind] += 1
        if not error.transient:
            # The run cannot be finished as it is, so nothing more is sent.
            begun = self.counts.made or self.counts.from_store
            refused = CallRefused if begun else RefusedAtStart
            self._over = refused(describe(spec), error.kind, str(error))
            raise self._over from error
        self._breaker.failed(error)
        self._check()
        flight.failures += 1
        flight.wait_s = self._retry.wait_s(spec.key, flight.failures, error.retry_after)
        if flight.used_s + flight.wait_s > self._retry.deadline_s:
            raise InfrastructureFailure(
                f"{describe(spec)}: gave up after {flight.failures} requests: {error}",
                kind=error.kind,
            ) from error


class _Flight:
    """One call on its way: how often it failed, and the seconds of its deadline that are used.

    Waiting for a free slot uses nothing: a long queue is no fault of the provider.
    """

    task: asyncio.Task[StoredCall]

    def __init__(self) -> None:
        self.failures, self.used_s, self.wait_s = 0, 0.0, 0.0
        self.asking = False
        self._waiters = 0

    async def wait(self) -> StoredCall:
        """The stored call; a waiter that is cancelled takes with it only a call not yet sent."""
        self._waiters += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiters -= 1
            if not self._waiters and not self.asking:
                self.task.cancel()


def _provider(model: str) -> str:
    return model.partition("/")[0]
