"""One item never stops the others, and time that is up ends waiting: the caller's side of both."""

import asyncio

import pytest
from tests.support.calls import ScriptedModel, reply, spec

from heldout.splits.errors import (
    CircuitOpen,
    HardCapReached,
    InfrastructureFailure,
    RefusedAtStart,
    Unanswered,
)
from heldout.students.calls import caller as caller_module
from heldout.students.calls.call import Stage
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.retry import Retry
from heldout.students.calls.store import CallStore

QUICK = Retry(deadline_s=60, base_s=0.0001, longest_s=0.0002, breaker_failures=20, breaker_s=0)


@pytest.fixture
def store(tmp_path):
    store = CallStore(f"sqlite:///{tmp_path}/calls.sqlite", "run")
    yield store
    store.close()


def calling(store, model, *, caps=Caps(), concurrency=4, retry=QUICK):  # noqa: B008
    return Caller({"test/judge": model}, store, Ledger(caps), concurrency=concurrency, retry=retry)


def results(caller, specs):
    async def scene():
        async with asyncio.timeout(30):
            found = await asyncio.gather(*map(caller.call, specs), return_exceptions=True)
            await caller.drain()
            return found

    return asyncio.run(scene())


def failing_on(names, kind="no_content", **more):
    """Answers everything but the items named, which always end in the same fault."""

    def answer(request, _number):
        if request.messages[0].content.split()[-1] in names:
            raise InfrastructureFailure("nothing", kind=kind, **more)
        return reply()

    return ScriptedModel(answer)


def asked(model, name):
    return sum(request.messages[0].content.split()[-1] == name for request in model.requests)


@pytest.mark.parametrize("kind", ["no_content", "not_json", "server", "timeout", "reset", "other"])
@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("bad", [["0"], ["7"], ["11"], ["9", "10", "11"]])
def test_an_item_that_always_fails_is_set_aside_and_the_others_are_answered(
    store, kind, concurrency, bad
):
    model = failing_on(bad, kind)
    names = [str(n) for n in range(12)]
    found = dict(
        zip(
            names,
            results(calling(store, model, concurrency=concurrency), map(spec, names)),
            strict=True,
        )
    )
    assert {name for name, got in found.items() if isinstance(got, Unanswered)} == set(bad)
    assert {asked(model, name) for name in bad} == {QUICK.item_failures}
    assert len(model.requests) == 12 - len(bad) + QUICK.item_failures * len(bad)
    assert f"gave up after {QUICK.item_failures} requests" in str(found[bad[0]])
    assert found[bad[0]].kind == kind
    assert found[bad[0]].exit_status == 4


def test_what_was_set_aside_is_not_sent_again_in_the_same_session(store):
    model = failing_on(["bad"])
    caller = calling(store, model)
    results(caller, [spec("bad"), *(spec(str(n)) for n in range(6))])
    (again,) = results(caller, [spec("bad")])
    assert isinstance(again, Unanswered)
    assert asked(model, "bad") == QUICK.item_failures


def test_many_bad_items_among_good_ones_are_no_outage(store):
    names = [str(n) for n in range(60)]
    bad = names[::4]
    found = results(calling(store, failing_on(bad), concurrency=8), map(spec, names))
    assert sum(isinstance(got, Unanswered) for got in found) == len(bad)
    assert len(store) == 60 - len(bad)


@pytest.mark.parametrize("answered", [0, 5, 30])
@pytest.mark.parametrize("kind", ["server", "no_content", "rate_limit", "connect"])
def test_everything_that_fails_from_a_moment_on_is_an_outage(store, answered, kind):
    def answer(request, number):
        if number >= answered:
            raise InfrastructureFailure("down", kind=kind)
        return reply()

    model = ScriptedModel(answer, delay_s=0.001)
    found = results(calling(store, model, concurrency=8), [spec(str(n)) for n in range(60)])
    assert sum(isinstance(got, CircuitOpen) for got in found) == 60 - answered
    assert len(store) == answered
    assert len(model.requests) <= answered + 20 + 2 * 8


def test_a_provider_that_asks_for_longer_than_the_deadline_is_not_asked_for_every_item(store):
    def answer(request, number):
        raise InfrastructureFailure("quota", kind="rate_limit", retry_after=3600)

    model = ScriptedModel(answer)
    retry = Retry(deadline_s=600, breaker_failures=20, breaker_s=20)
    found = results(calling(store, model, retry=retry), [spec(str(n)) for n in range(200)])
    assert sum(isinstance(got, CircuitOpen) for got in found) >= 200 - 20 - 4
    assert len(model.requests) <= 20 + 4


def test_an_item_that_alone_is_told_to_wait_is_set_aside_at_its_deadline(store):
    model = failing_on(["bad"], "rate_limit", retry_after=3600)
    found = results(calling(store, model), [spec("bad"), *(spec(str(n)) for n in range(6))])
    assert isinstance(found[0], Unanswered)
    assert asked(model, "bad") == 1
    assert len(store) == 6


def test_too_many_requests_are_no_fault_of_the_item(store):
    """An item among others that is told to slow down more often than an item may fail."""

    def answer(request, _number):
        late = request.messages[0].content.split()[-1] == "late"
        if late and sum(r == request for r in model.requests) <= 2 * QUICK.item_failures:
            raise InfrastructureFailure("slow down", kind="rate_limit")
        return reply()

    model = ScriptedModel(answer)
    found = results(calling(store, model), [spec("late"), *(spec(str(n)) for n in range(6))])
    assert found[0].reply.text == "fine"


@pytest.mark.parametrize("kind", ["bad_request", "context_window"])
@pytest.mark.parametrize("bad", ["0", "3", "7"])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_refusal_of_one_item_is_that_items_own(store, kind, bad, concurrency):
    model = failing_on([bad], kind, transient=False)
    names = [str(n) for n in range(8)]
    found = results(calling(store, model, concurrency=concurrency), map(spec, names))
    assert [isinstance(got, Unanswered) for got in found] == [name == bad for name in names]
    assert asked(model, bad) == 1


def test_a_refusal_of_the_only_question_is_told_at_once(store):
    (got,) = results(calling(store, failing_on(["a"], "bad_request", transient=False)), [spec("a")])
    assert isinstance(got, RefusedAtStart)


def test_a_refusal_of_the_first_request_or_a_key_that_is_rejected_ends_everything(store):
    for kind in ("bad_request", "auth", "not_found"):
        model = failing_on([str(n) for n in range(8)], kind, transient=False)
        found = results(calling(store, model), [spec(str(n)) for n in range(8)])
        assert {type(got) for got in found} == {RefusedAtStart}
        assert len(model.requests) <= 4


def test_a_reflector_is_asked_until_its_deadline(store):
    """It is no item: without it nothing can go on."""
    model = failing_on(["i001"], "server")
    retry = Retry(deadline_s=0.3, base_s=0.001, longest_s=0.001, breaker_failures=1000)
    caller = calling(store, model, retry=retry)
    results(caller, [spec("note")])
    (got,) = results(caller, [spec("i001", stage=Stage.REFLECT)])
    assert type(got) is InfrastructureFailure
    assert len(model.requests) > 2 * retry.item_failures


# -- time that is up -------------------------------------------------------------------------------


class Hanging(ScriptedModel):
    async def complete(self, request):
        self.requests.append(request)
        await asyncio.sleep(3600)
        raise AssertionError("it was waited for")


def told(kind, **more):
    def answer(request, number):
        raise InfrastructureFailure("no", kind=kind, **more)

    return answer


@pytest.mark.parametrize(
    ("model", "abandoned"),
    [
        (Hanging(), 4),
        (ScriptedModel(told("rate_limit", retry_after=30)), 0),
        (ScriptedModel(told("reset"), delay_s=0.01), 0),
        (ScriptedModel(told("server"), delay_s=0.01), 0),
        (ScriptedModel(delay_s=3600), 4),
    ],
    ids=["hanging", "rate_limit", "dropped", "server", "slow"],
)
def test_time_that_is_up_ends_every_wait(store, monkeypatch, model, abandoned):
    monkeypatch.setattr(caller_module, "GRACE_S", 0.02)
    monkeypatch.setattr(caller_module, "STOP_POLL_S", 0.02)
    retry = Retry(breaker_failures=10_000, item_failures=10_000)
    caller = calling(store, model, caps=Caps(wall_s=0.1), retry=retry)
    found = results(caller, [spec(str(n)) for n in range(12)])
    assert {type(got) for got in found} == {HardCapReached}
    assert {got.cap for got in found} == {"wall_s"}
    assert len(caller.counts.abandoned) == abandoned
    assert len(store) == 0


def test_what_arrives_a_moment_after_time_is_up_is_stored(store, monkeypatch):
    monkeypatch.setattr(caller_module, "GRACE_S", 20)
    caller = calling(store, ScriptedModel(delay_s=0.2), caps=Caps(wall_s=0.1))
    found = results(caller, [spec(str(n)) for n in range(8)])
    assert len(store) == 4
    assert sum(isinstance(got, HardCapReached) for got in found) == 4
    assert caller.counts.abandoned == []


def test_what_is_stored_is_served_after_time_is_up(store):
    caller = calling(store, ScriptedModel(), caps=Caps(wall_s=0.05))
    results(caller, [spec("a")])
    late = Caller(
        {"test/judge": Hanging()},
        store,
        Ledger(Caps(wall_s=0.05), clock=iter([0.0, *[9.0] * 99]).__next__),
        concurrency=1,
    )
    served, refused = results(late, [spec("a"), spec("b")])
    assert served.reply.text == "fine"
    assert isinstance(refused, HardCapReached)
