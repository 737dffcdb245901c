import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.calls import FREE, PRICED, UNPRICED, reply, spec

from heldout.splits.errors import HardCapReached
from heldout.students.calls.call import Stage
from heldout.students.calls.ledger import (
    Amount,
    Caps,
    Ledger,
    Role,
    ceiling,
    price_faults,
    role_of,
)
from heldout.students.calls.store import CallStore


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def store(tmp_path):
    store = CallStore(f"sqlite:///{tmp_path}/calls.sqlite", "run")
    yield store
    store.close()


def test_roles():
    assert role_of(Stage.JUDGE, 0) is Role.STUDENT
    assert role_of(Stage.EXTRACT, 0) is Role.STUDENT
    assert role_of(Stage.REFLECT, 0) is Role.REFLECTOR
    assert role_of(Stage.MERGE, 1) is Role.RETRY
    assert role_of(Stage.RETRY, 0) is Role.RETRY


def test_totals_are_kept_by_role_and_add_up(store):
    ledger = Ledger(Caps())
    ledger.charge(store.put(spec("a"), reply(usd=0.25)))
    ledger.charge(store.put(spec("b", attempt=1), reply(usd=0.5, completion=30)))
    ledger.charge(store.put(spec("c", stage=Stage.REFLECT), reply(usd=1.0)))
    assert [ledger.by_role(role).usd for role in Role] == [0.25, 1.0, 0.5]
    assert (ledger.totals.calls, ledger.totals.usd) == (3, 1.75)
    assert ledger.totals.tokens == 3 * 50 + 20 + 30 + 20


def test_a_call_is_charged_once(store):
    ledger = Ledger(Caps())
    stored = store.put(spec(), reply(usd=1.0))
    assert ledger.charge(stored)
    assert not ledger.charge(stored)
    ledger.restore(store.calls())
    assert (ledger.totals.calls, ledger.totals.usd) == (1, 1.0)


def test_one_unknown_price_makes_the_sum_unknown_and_never_zero(store):
    ledger = Ledger(Caps())
    ledger.charge(store.put(spec("a"), reply(usd=1.0)))
    ledger.charge(store.put(spec("b"), reply(usd=None)))
    ledger.charge(store.put(spec("c"), reply(usd=1.0)))
    assert ledger.totals.usd is None
    assert ledger.totals.calls == 3


def test_a_call_another_run_bought_costs_nothing(tmp_path):
    url = f"sqlite:///{tmp_path}/calls.sqlite"
    with_price = CallStore(url, "first")
    with_price.put(spec(), reply(usd=1.0))
    with_price.close()
    second = CallStore(url, "second", "read-write")
    ledger = Ledger(Caps())
    ledger.charge(second.get(spec().key))
    second.close()
    assert (ledger.totals.calls, ledger.totals.usd, ledger.totals.reused) == (0, 0.0, 1)


@pytest.mark.parametrize(
    ("caps", "cap"),
    [
        (Caps(calls=1), "calls"),
        (Caps(tokens=ceiling(spec()).tokens + 60), "tokens"),
        (Caps(usd=0.0015), "usd"),
    ],
)
def test_the_call_that_would_pass_a_cap_is_not_made(store, caps, cap):
    ledger = Ledger(caps)
    first = ledger.reserve(spec("a", pin=PRICED))
    ledger.charge(store.put(spec("a", pin=PRICED), reply(usd=0.00105)))
    ledger.refund(first)
    with pytest.raises(HardCapReached) as caught:
        ledger.reserve(spec("b", pin=PRICED))
    assert caught.value.cap == cap
    assert f"budget.{cap}" in str(caught.value)


def test_a_ceiling_is_above_what_the_call_can_cost():
    question = spec(pin=PRICED, text="ä" * 300, max_tokens=1000)
    most = ceiling(question)
    assert most.calls == 1
    assert most.tokens >= 1000 + 200
    assert most.usd == pytest.approx((most.tokens - 1000) * 1e-6 + 1000 * 10e-6)


def test_what_only_calls_in_flight_block_waits_for_them(store):
    async def scene():
        ledger = Ledger(Caps(tokens=ceiling(spec("a")).tokens + 80))
        first = ledger.reserve(spec("a"))
        assert ledger.reserve(spec("b")) is None
        waiting = asyncio.create_task(ledger.changed())
        await asyncio.sleep(0)
        assert not waiting.done()
        # The call was far cheaper than its reservation, so the next one fits.
        ledger.charge(store.put(spec("a"), reply()))
        ledger.refund(first)
        await waiting
        assert ledger.reserve(spec("b")) is not None

    asyncio.run(scene())


def test_what_is_held_for_the_confirmation_is_out_of_reach_until_released():
    ledger = Ledger(Caps(calls=3))
    ledger.hold(Amount(calls=2))
    only = ledger.reserve(spec("a"))
    assert ledger.reserve(spec("b")) is None
    ledger.refund(only)
    ledger.hold(Amount(calls=3))
    with pytest.raises(HardCapReached):
        ledger.reserve(spec("b"))
    ledger.release()
    assert ledger.reserve(spec("b")) is not None


def test_a_role_has_caps_of_its_own(store):
    ledger = Ledger(Caps(), role_caps={Role.REFLECTOR: Caps(calls=0)})
    assert ledger.reserve(spec("a")) is not None
    with pytest.raises(HardCapReached, match=r"budget\.reflector\.calls = 0"):
        ledger.reserve(spec("a", stage=Stage.REFLECT))


def test_wall_time_goes_on_where_the_last_session_ended(store):
    clock = Clock()
    ledger = Ledger(Caps(wall_s=60), clock=clock)
    clock.now += 40
    store.put(spec("a"), reply(), elapsed_s=ledger.wall_s)
    # The next session starts on a clock that knows nothing of the first.
    clock = Clock()
    clock.now = 3.0
    ledger = Ledger(Caps(wall_s=60), clock=clock)
    ledger.restore(store.calls())
    assert ledger.wall_s == 40
    assert ledger.reserve(spec("b")) is not None
    clock.now += 20
    with pytest.raises(HardCapReached, match="wall_s"):
        ledger.reserve(spec("c"))


def test_the_wall_time_of_runs_under_one_ledger_is_not_summed(store):
    ledger = Ledger(Caps(), clock=Clock())
    first = store.put(spec("a"), reply(), elapsed_s=100.0)
    second = store.put(spec("b"), reply(), elapsed_s=160.0)
    ledger.restore([second])
    ledger.restore([first])
    assert ledger.wall_s == 160.0


def test_a_usd_cap_beside_an_unknown_price_is_a_fault_that_names_the_model():
    pins = {"student": FREE, "reflector": UNPRICED}
    assert price_faults(pins, Caps(calls=5)) == []
    (fault,) = price_faults(pins, Caps(usd=5.0))
    assert "reflector" in str(fault)
    assert "test/judge" in str(fault)
    assert price_faults({"student": PRICED}, Caps(usd=5.0)) == []


@given(
    cap=st.integers(0, 12),
    costs=st.lists(st.sampled_from(["reserve", "finish", "fail"]), max_size=60),
)
def test_a_cap_is_never_passed_whatever_the_order(cap, costs):
    ledger = Ledger(Caps(calls=cap))
    reserved, made = [], 0
    for step in costs:
        if step == "reserve":
            try:
                got = ledger.reserve(spec())
            except HardCapReached:
                assert made >= cap
                continue
            if got is not None:
                reserved.append(got)
            assert (got is None) == (made + len(reserved) >= cap) or got is not None
        elif reserved:
            if step == "finish":
                made += 1
                ledger.totals.calls += 1
            ledger.refund(reserved.pop())
        assert made + len(reserved) <= cap
