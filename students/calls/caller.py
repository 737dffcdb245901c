"""The caller: the one way to a model.

It asks each question once, however many judgements want the answer; looks in the store first;
keeps the hard caps by reservation; bounds what is in flight; asks again after a fault of
infrastructure, under a deadline and without changing the question; sets one item aside that fails
while others are answered; and stops for good when everything fails. A stop lets calls in flight
finish and be stored; only when time is up are they abandoned, a moment later.
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
    Unanswered,
)
from heldout.students.calls.call import CallSpec, describe
from heldout.students.calls.ledger import Ledger, Reservation
from heldout.students.calls.retry import (
    FIRST_REFUSALS,
    OF_ONE_ITEM,
    Breaker,
    Retry,
    is_own,
)
from heldout.students.calls.store import CallStore, Reuse
from heldout.students.calls.store_rows import StoredCall
from heldout.students.calls.warming import Prefixes
from heldout.students.models.chat import ChatModel, ChatReply, ConnectedModel

STOP_POLL_S = 0.25
"""How soon a call that waits to ask again notices that the run should stop."""

GRACE_S = 1.0
"""How long calls in flight may still take once `budget.wall_s` is over: they are paid for."""


@dataclass
class CallCounts:
    """What a session did: calls answered by a model, from the store, and faults by kind.

    `requests` are all that were sent; `requests - made` of them failed. `abandoned` are those in
    flight when time was up, in words: they may be bought again.
    """

    requests: int = 0
    made: int = 0
    from_store: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    abandoned: list[str] = field(default_factory=list)


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
        self._set_aside: dict[str, Unanswered] = {}
        self._answered = Counter(_provider(call.model) for call in store.calls())
        self._breaker = Breaker(self._retry)
        self._prefixes = Prefixes()

    async def call(self, spec: CallSpec) -> StoredCall:
        """The reply to `spec`, from the store or bought now.

        Raises StopRequested, HardCapReached, CircuitOpen or StoreUnavailable, after which the
        run can be resumed; Unanswered when this question is set aside, InfrastructureFailure when
        the deadline passed without a reply; CallRefused when asking again is no use; CallMissing
        in a replay.
        """
        self._check()
        flight = self._in_flight.get(spec.key)
        if flight is None:
            stored = self._from_store(spec)
            if stored is not None:
                return stored
            if self.store.reuse is Reuse.REPLAY:
                raise CallMissing(describe(spec), self.store.name)
            if spec.key in self._set_aside:
                raise self._set_aside[spec.key].with_traceback(None)
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
                    self.ledger.check_time()
                    mine = self._lease(spec)
                    # The neighbour may have stored it between our look and our lease.
                    stored = self._from_store(spec) if self._shares else None
                    if mine and stored is None:
                        reservation = reservation or self.ledger.reserve(spec)
                        stored = await self._ask(spec, flight) if reservation else None
                if stored is None:
                    # Outside the slot, or calls that wait could block those that end.
                    await self._wait(spec, flight, mine, reservation)
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

    async def _wait(
        self, spec: CallSpec, flight: _Flight, mine: bool, reservation: Reservation | None
    ) -> None:
        """Wait for the run that is buying the call, for room under a cap, or to ask again."""
        if flight.refusal is not None:
            await self._told_by_others(spec, flight, flight.refusal)
        elif not mine:
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
            self.ledger.check_time()
        flight.waited()

    async def _ask(self, spec: CallSpec, flight: _Flight) -> StoredCall | None:
        """Send one request; None after a fault that is worth another one."""
        started, provider = time.monotonic(), _provider(spec.pin.id)
        self.counts.requests += 1
        flight.sent(self._answered[provider])
        try:
            reply = await self._reply(spec)
        except InfrastructureFailure as error:
            flight.failed(error, time.monotonic() - started)
            self._failed(spec, flight, error)
            return None
        finally:
            flight.asking = False
        self._breaker.succeeded()
        self._answered[provider] += 1
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
        may_take = min(self._retry.request_s, self.ledger.left_s + GRACE_S)
        try:
            async with asyncio.timeout(may_take):
                return await self._models[spec.pin.id].complete(spec.request)
        except TimeoutError:
            if self.ledger.left_s <= 0:
                self.counts.abandoned.append(describe(spec))
                self.ledger.check_time()
            raise InfrastructureFailure(
                f"no reply within {self._retry.request_s:g} s", kind="timeout"
            ) from None

    def _failed(self, spec: CallSpec, flight: _Flight, error: InfrastructureFailure) -> None:
        """Count a fault and set how long to wait; raises when waiting is no use."""
        self.counts.faults[error.kind] += 1
        of_item, others = not spec.stage.keeps_messages, self._answered[_provider(spec.pin.id)]
        if not error.transient:
            if not of_item or error.kind not in OF_ONE_ITEM:
                raise self._refused(spec, error) from error
            if others or error.kind == "context_window":
                raise self._put_aside(spec, flight, error) from error
            flight.refusal = error
            return
        most = self._breaker.most_of_one_item if of_item else flight.failures
        if not others or (others == flight.others and flight.failures <= most):
            self._breaker.failed(error)
        self._check()
        flight.wait_s = self._retry.wait_s(spec.key, flight.failures, error.retry_after)
        if of_item and others and is_own(error) and flight.is_hopeless(self._retry):
            raise self._put_aside(spec, flight, error) from error
        if flight.used_s + flight.wait_s > self._retry.deadline_s:
            raise self._given_up(spec, flight, error) from error

    def _refused(self, spec: CallSpec, error: InfrastructureFailure) -> CallRefused:
        """The run cannot be finished as it is, so nothing more is sent."""
        begun = self.counts.made or self.counts.from_store
        refused = CallRefused if begun else RefusedAtStart
        self._over = refused(describe(spec), error.kind, str(error))
        return self._over

    async def _told_by_others(
        self, spec: CallSpec, flight: _Flight, error: InfrastructureFailure
    ) -> None:
        """Wait for what becomes of other questions: is it this one that is refused, or all?

        Raises Unanswered once another is answered, CallRefused when none is left that could be.
        """
        while not self._answered[_provider(spec.pin.id)]:
            self._check()
            open_ = [f.task for f in self._in_flight.values() if f.refusal is None]
            if not open_ or len(self._in_flight) - len(open_) >= FIRST_REFUSALS:
                raise self._refused(spec, error)
            await asyncio.wait(open_, timeout=STOP_POLL_S, return_when=asyncio.FIRST_COMPLETED)
        raise self._put_aside(spec, flight, error)

    def _put_aside(
        self, spec: CallSpec, flight: _Flight, error: InfrastructureFailure
    ) -> Unanswered:
        """What is told of a question that is not asked again in this session."""
        found = Unanswered(describe(spec), flight.failures, error)
        self._set_aside[spec.key] = found
        return found

    def _given_up(
        self, spec: CallSpec, flight: _Flight, error: InfrastructureFailure
    ) -> InfrastructureFailure:
        """What ends a call whose deadline has passed."""
        self._breaker.gave_up(error)
        if not spec.stage.keeps_messages:
            return self._put_aside(spec, flight, error)
        asked = "1 request" if flight.failures == 1 else f"{flight.failures} requests"
        message = f"{describe(spec)}: gave up after {asked}: {error}"
        return InfrastructureFailure(message, kind=error.kind)


class _Flight:
    """One call on its way: how often it failed, and the seconds of its deadline that are used.

    `others` is how many calls its provider had answered when it was first sent; `own` counts the
    faults that may be the question's own, `own_s` the seconds spent on them; `refusal` is what the
    provider said before it had answered any. Waiting for a free
    slot uses nothing: a long queue is no fault of the provider.
    """

    task: asyncio.Task[StoredCall]

    def __init__(self) -> None:
        self.failures, self.used_s, self.wait_s = 0, 0.0, 0.0
        self.own, self.own_s, self._last_is_own = 0, 0.0, False
        self.others: int | None = None
        self.refusal: InfrastructureFailure | None = None
        self.asking = False
        self._waiters = 0

    def sent(self, answered: int) -> None:
        """A request goes out, when its provider has answered so many calls."""
        self.asking = True
        self.others = answered if self.others is None else self.others

    def failed(self, error: InfrastructureFailure, took_s: float) -> None:
        """The request came back without a reply after so many seconds."""
        self.failures += 1
        self.used_s += took_s
        self._last_is_own = is_own(error)
        if self._last_is_own:
            self.own += 1
            self.own_s += took_s

    def waited(self) -> None:
        """The wait before the next request is over."""
        self.used_s += self.wait_s
        self.own_s += self.wait_s if self._last_is_own else 0.0

    def is_hopeless(self, retry: Retry) -> bool:
        """True once its own faults were as many, or took as long, as one item is given."""
        return self.own >= retry.item_failures or self.own_s + self.wait_s > retry.item_s

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
