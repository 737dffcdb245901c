import asyncio
import time

import pytest
from tests.support.calls import ScriptedModel, spec

from heldout.splits.errors import (
    BadInput,
    HardCapReached,
    InfrastructureFailure,
    StopRequested,
    Unanswered,
)
from heldout.students.calls import caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.session import all_answers, open_judging
from heldout.students.models.pins import simulated_pins


def opened(tmp_path, model, run_id="r", **changes):
    url = f"sqlite:///{tmp_path / 'calls.sqlite'}"
    pins = [simulated_pins()["sim/judge"]]
    return open_judging(url, run_id, pins, {"sim/judge": model}, **changes)


def question(name):
    return spec(name, pin=simulated_pins()["sim/judge"].pin)


def test_what_was_bought_before_is_booked_and_not_asked_again(tmp_path):
    model = ScriptedModel()
    for _ in range(2):
        with opened(tmp_path, model) as session:
            session.runner.run(session.caller.call(question("a")))
            assert session.ledger.totals.calls == 1
    assert len(model.requests) == 1


def test_calls_of_another_run_on_the_store_are_used(tmp_path):
    model = ScriptedModel()
    for run_id in ("first", "second"):
        with opened(tmp_path, model, run_id) as session:
            session.runner.run(session.caller.call(question("a")))
    assert len(model.requests) == 1


def test_one_ledger_goes_on_counting_over_several_sessions(tmp_path):
    ledger = Ledger(Caps(calls=2))
    for name in ("a", "b"):
        with opened(tmp_path, ScriptedModel(), name, ledger=ledger) as session:
            session.runner.run(session.caller.call(question(name)))
    with (
        opened(tmp_path, ScriptedModel(), "c", ledger=ledger) as session,
        pytest.raises(HardCapReached),
    ):
        session.runner.run(session.caller.call(question("c")))


def test_everything_is_closed_whatever_happens(tmp_path):
    with pytest.raises(KeyError), opened(tmp_path, ScriptedModel()) as session:
        raise KeyError("in between")
    with pytest.raises(RuntimeError, match="closed"):
        session.runner.get_loop()
    assert session.store._connection.closed
    session.store.close()


def test_a_store_that_cannot_be_opened_is_bad_input(tmp_path):
    (tmp_path / "calls.sqlite").write_text("no database at all, but a text of some length" * 40)
    with pytest.raises(BadInput), opened(tmp_path, ScriptedModel()):
        pass


class StandingClock:
    """Stands still until it is started, so that only what comes then takes time."""

    started = None

    def __call__(self):
        return 0.0 if self.started is None else time.monotonic() - self.started


def test_calls_that_are_abandoned_when_time_is_up_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(caller, "GRACE_S", 0.01)
    clock = StandingClock()
    ledger = Ledger(Caps(wall_s=0.3), clock=clock)

    def judged():
        model = ScriptedModel(delay_s=60)
        with opened(tmp_path, model, ledger=ledger, concurrency=2) as session:
            clock.started = time.monotonic()
            session.runner.run(all_answers(map(session.caller.call, map(question, "abc"))))

    with pytest.raises(HardCapReached, match="2 calls in flight were abandoned and may be bought"):
        judged()


def test_a_question_set_aside_stands_among_the_answers():
    async def answered(value):
        return value

    async def silent():
        raise fault

    fault = Unanswered("judge of n1", 8, InfrastructureFailure("nothing", kind="no_content"))
    found = asyncio.run(all_answers([answered(1), silent(), answered(2)]))
    assert found == [1, fault, 2]
    with pytest.raises(StopRequested):
        asyncio.run(all_answers([answered(1), silent(), failing(StopRequested("a test"))]))


async def failing(error):
    raise error


def test_every_answer_comes_back_before_the_gravest_fault_is_raised():
    done = []

    async def slow():
        await asyncio.sleep(0.01)
        done.append(True)

    stop, fault = StopRequested("a test"), InfrastructureFailure("no line")
    with pytest.raises(type(max((stop, fault), key=lambda e: e.exit_status))):
        asyncio.run(all_answers([failing(stop), slow(), failing(fault)]))
    assert done

    async def one(value):
        return value

    assert asyncio.run(all_answers([one(1), one(2)])) == [1, 2]
