import asyncio

import pytest
from tests.support.calls import PRICED, ScriptedModel, reply, spec

from heldout.splits.errors import (
    CallMissing,
    CallRefused,
    CircuitOpen,
    HardCapReached,
    InfrastructureFailure,
    StopRequested,
    StoreUnavailable,
)
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.retry import Retry
from heldout.students.calls.store import CallStore

QUICK = Retry(deadline_s=5.0, request_s=1.0, base_s=0.001, longest_s=0.002)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/calls.sqlite"


@pytest.fixture
def store(url):
    store = CallStore(url, "run")
    yield store
    store.close()


def calling(store, model, *, caps=Caps(), concurrency=4, retry=QUICK, **more):  # noqa: B008
    return Caller(
        {"test/judge": model}, store, Ledger(caps), concurrency=concurrency, retry=retry, **more
    )


def results(caller, specs):
    """Outcome of each call: the stored call or its error; everything in flight has landed."""

    async def scene():
        found = await asyncio.gather(*map(caller.call, specs), return_exceptions=True)
        await caller.drain()
        return found

    return asyncio.run(scene())


def failing(kinds, then=None):
    """Raises one fault for each kind, then answers."""

    def answer(request, number):
        if number < len(kinds):
            raise InfrastructureFailure("no", kind=kinds[number])
        return then or reply()

    return ScriptedModel(answer)


def test_two_judgements_that_want_one_answer_share_the_call(store):
    model = ScriptedModel(delay_s=0.01)
    caller = calling(store, model)
    first, second, other = results(caller, [spec("a"), spec("a"), spec("b")])
    assert first is second
    assert first is not other
    assert len(model.requests) == 2
    assert caller.ledger.totals.calls == 2


def test_what_is_stored_is_not_bought_again_and_is_charged_once(url):
    model = ScriptedModel()
    for session in range(2):
        store = CallStore(url, "run")
        caller = calling(store, model)
        caller.ledger.restore(store.calls())
        results(caller, [spec("a"), spec("a")])
        assert caller.ledger.totals.calls == 1
        assert (caller.counts.made, caller.counts.from_store > 0) == (1 - session, session == 1)
        store.close()
    assert len(model.requests) == 1


def test_no_more_than_concurrency_are_in_flight(store):
    model = ScriptedModel(delay_s=0.005)
    results(calling(store, model, concurrency=3), [spec(str(n)) for n in range(12)])
    assert model.highest == 3


def test_a_transient_fault_is_asked_again_without_changing_the_question(store):
    model = failing(["rate_limit", "server", "reset"])
    caller = calling(store, model)
    (stored,) = results(caller, [spec()])
    assert stored.reply.text == "fine"
    assert len(set(map(repr, model.requests))) == 1
    assert caller.counts.faults == {"rate_limit": 1, "server": 1, "reset": 1}
    assert (caller.counts.requests, caller.counts.made) == (4, 1)
    assert caller.ledger.totals.calls == 1


def test_a_fault_that_will_not_pass_is_asked_once(store):
    def answer(request, number):
        raise InfrastructureFailure("key rejected", kind="auth", transient=False)

    model = ScriptedModel(answer)
    (error,) = results(calling(store, model), [spec("n9")])
    assert isinstance(error, CallRefused)
    assert error.exit_status == 2
    assert "judge of n9 by test/judge" in str(error)
    assert len(model.requests) == 1


def test_after_a_refusal_nothing_more_is_sent(store):
    def answer(request, number):
        if number == 5:
            raise InfrastructureFailure("no such model", kind="not_found", transient=False)
        return reply()

    model = ScriptedModel(answer, delay_s=0.005)
    found = results(calling(store, model), [spec(str(n)) for n in range(40)])
    assert sum(isinstance(result, CallRefused) for result in found) == 40 - len(store)
    assert len(model.requests) <= 5 + 1 + 4
    assert len(store) == len(model.requests) - 1


def test_retry_after_is_honoured(store):
    def answer(request, number):
        if number == 0:
            raise InfrastructureFailure("busy", kind="rate_limit", retry_after=0.2)
        return reply()

    loop_times = []
    model = ScriptedModel(answer)

    async def scene():
        loop = asyncio.get_running_loop()
        loop_times.append(loop.time())
        await calling(store, model).call(spec())
        loop_times.append(loop.time())

    asyncio.run(scene())
    assert loop_times[1] - loop_times[0] >= 0.2


def test_a_retry_after_beyond_the_deadline_gives_up_at_once(store):
    def answer(request, number):
        raise InfrastructureFailure("busy", kind="rate_limit", retry_after=3600)

    model = ScriptedModel(answer)
    (error,) = results(calling(store, model), [spec()])
    assert isinstance(error, InfrastructureFailure)
    assert "gave up after 1 request:" in str(error)
    assert len(model.requests) == 1
    assert len(store) == 0


def test_a_request_that_hangs_is_cut_and_asked_again(store):
    class Hangs(ScriptedModel):
        async def complete(self, request):
            if not self.requests:
                self.requests.append(request)
                await asyncio.sleep(60)
            return await super().complete(request)

    retry = Retry(deadline_s=5, request_s=0.05, base_s=0.001)
    caller = calling(store, Hangs(), retry=retry)
    (stored,) = results(caller, [spec()])
    assert stored.reply.text == "fine"
    assert caller.counts.faults == {"timeout": 1}


def test_waits_grow_and_are_the_same_every_time():
    retry = Retry(base_s=1.0, longest_s=30.0)
    waits = [retry.wait_s("key", n, None) for n in range(1, 9)]
    assert waits == [retry.wait_s("key", n, None) for n in range(1, 9)]
    assert all(0.5 * 2**n <= wait < 2**n for n, wait in enumerate(waits[:5]))
    assert all(15 <= wait < 30 for wait in waits[5:])
    assert retry.wait_s("key", 1, None) != retry.wait_s("other", 1, None)


def test_when_everything_fails_the_breaker_opens_and_nothing_is_stored(store):
    def answer(request, number):
        raise InfrastructureFailure("down", kind="server")

    retry = Retry(deadline_s=60, base_s=0.001, longest_s=0.001, breaker_failures=8, breaker_s=0)
    model = ScriptedModel(answer, delay_s=0.001)
    caller = calling(store, model, retry=retry)
    errors = results(caller, [spec(str(n)) for n in range(20)])
    assert {type(error) for error in errors} == {CircuitOpen}
    assert errors[0].exit_status == 4
    assert 8 <= len(model.requests) <= 8 + 4
    assert len(store) == 0
    assert caller.ledger.totals.calls == 0


def test_a_burst_shorter_than_the_breakers_span_does_not_open_it(store):
    model = failing(["server"] * 50)
    retry = Retry(deadline_s=60, base_s=0.001, longest_s=0.001, breaker_failures=8, breaker_s=30)
    found = results(calling(store, model, retry=retry), [spec(str(n)) for n in range(20)])
    assert [call.reply.text for call in found] == ["fine"] * 20


def test_a_stop_lets_calls_in_flight_finish_and_stores_them(store):
    model = ScriptedModel(delay_s=0.02)
    asked = []
    caller = calling(store, model, stop=lambda: "SIGINT" if asked else None)

    async def scene():
        running = [asyncio.create_task(caller.call(spec(str(n)))) for n in range(10)]
        await asyncio.sleep(0.005)
        asked.append(True)
        found = await asyncio.gather(*running, return_exceptions=True)
        await caller.drain()
        return found

    found = asyncio.run(scene())
    assert sum(isinstance(result, StopRequested) for result in found) == 6
    assert len(store) == len(model.requests) == 4


def test_a_call_that_waits_to_be_asked_again_notices_a_stop(store):
    stopped = []

    def answer(request, number):
        stopped.append(True)
        raise InfrastructureFailure("busy", retry_after=50)

    caller = calling(
        store,
        ScriptedModel(answer),
        retry=Retry(deadline_s=100),
        stop=lambda: "SIGINT" if stopped else None,
    )
    (error,) = results(caller, [spec()])
    assert isinstance(error, StopRequested)


def test_cancelling_judgements_keeps_what_is_sent_and_drops_what_is_not(store):
    model = ScriptedModel(delay_s=0.02)
    caller = calling(store, model)

    async def scene():
        running = [asyncio.create_task(caller.call(spec(str(n)))) for n in range(10)]
        await asyncio.sleep(0.005)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await caller.drain()

    asyncio.run(scene())
    assert len(model.requests) == len(store) == 4
    assert caller.ledger.totals.calls == 4


def test_a_hard_cap_is_not_passed_by_calls_in_flight(store):
    model = ScriptedModel(lambda *_: reply(usd=0.00025), delay_s=0.002)
    caller = calling(store, model, caps=Caps(usd=0.0055), concurrency=8)
    found = results(caller, [spec(str(n), pin=PRICED) for n in range(40)])
    errors = [result for result in found if isinstance(result, HardCapReached)]
    assert errors
    assert len(errors) + len(store) == 40
    assert caller.ledger.totals.usd <= 0.0055
    # Calls are cheaper than their reservations, and what is given back is used.
    assert caller.ledger.totals.usd > 0.0055 - 0.0012
    assert len(model.requests) == len(store)


def test_retries_and_reservations_cannot_block_each_other(store):
    """Slots full of calls that wait for the ledger, while those it waits for want a slot."""

    def answer(request, number):
        if number < 6:
            raise InfrastructureFailure("no", kind="server")
        return reply()

    caps = Caps(tokens=330)
    caller = calling(store, ScriptedModel(answer, delay_s=0.001), caps=caps, concurrency=2)

    async def scene():
        async with asyncio.timeout(5):
            calls = (caller.call(spec(str(n))) for n in range(6))
            found = await asyncio.gather(*calls, return_exceptions=True)
            await caller.drain()
            return found

    found = asyncio.run(scene())
    assert {type(result).__name__ for result in found} == {"StoredCall", "HardCapReached"}


def test_replay_names_the_call_that_is_missing_and_sends_nothing(url):
    store = CallStore(url, "run", "replay")
    model = ScriptedModel()
    (error,) = results(calling(store, model), [spec("n7")])
    assert isinstance(error, CallMissing)
    assert "judge of n7 by test/judge, sample 0" in str(error)
    assert model.requests == []
    store.close()


def test_a_store_that_fails_ends_the_buying(store, monkeypatch):
    model = ScriptedModel(delay_s=0.005)
    caller = calling(store, model)

    def put(*args, **kwargs):
        raise StoreUnavailable("calls.sqlite", "the disk is full")

    monkeypatch.setattr(store, "put", put)
    found = results(caller, [spec(str(n)) for n in range(50)])
    assert {type(result) for result in found} == {StoreUnavailable}
    assert len(model.requests) == 4


def test_each_provider_has_slots_of_its_own(store):
    one, two = ScriptedModel(delay_s=0.01), ScriptedModel(delay_s=0.01)
    other = type(PRICED)("other/reflector", usd_per_million_prompt=0, usd_per_million_completion=0)
    caller = Caller({"test/judge": one, other.id: two}, store, Ledger(Caps()), concurrency=1)

    async def scene():
        await asyncio.gather(
            *(caller.call(spec(str(n))) for n in range(3)),
            *(caller.call(spec(str(n), pin=other)) for n in range(3)),
        )

    asyncio.run(scene())
    assert (one.highest, two.highest) == (1, 1)
    assert len(store) == 6
