"""Several runs and machines on one store, SQLite and PostgreSQL alike."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace

import pytest
import sqlalchemy as sa
from tests.benchmarks.loopback import serving
from tests.soak.provider import Provider
from tests.support.calls import ScriptedModel, reply, spec
from tests.support.postgres import postgres

from heldout.splits.errors import BadInput, StoreUnavailable
from heldout.students.calls import leases
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.store import CallStore
from heldout.students.models.chat import ChatReply, StopReason, Usage


@pytest.fixture(scope="module")
def server():
    with postgres() as url:
        yield url


@pytest.fixture
def empty_server(server):
    engine = sa.create_engine(server)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    engine.dispose()
    return server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/calls.sqlite"
    return request.getfixturevalue("empty_server")


def stored_items(url, run):
    store = CallStore(url, run)
    items = [(call.item, call.origin) for call in store.calls()]
    store.close()
    return items


def test_a_call_comes_back_as_it_was_put(url):
    store = CallStore(url, "run")
    answer = ChatReply(
        "a\0b\ud800 «ü» 日本", StopReason.LENGTH, Usage(9, 8, 7, 6), None, "m", reasoning="r"
    )
    put = store.put(spec("n"), answer, latency_s=0.1, elapsed_s=1 / 3)
    store.sync()
    store.close()
    store = CallStore(url, "run")
    assert store.get(spec("n").key) == put
    assert put.reply.text == "a\ufffdb\ufffd «ü» 日本"
    assert put.elapsed_s == 1 / 3
    store.close()


def test_runs_take_over_calls_where_they_share_them(url):
    first, second, alone = (
        CallStore(url, "first", "read-write"),
        CallStore(url, "second", "read-write"),
        CallStore(url, "alone"),
    )
    first.put(spec("a"), reply("theirs"))
    got = second.get(spec("a").key)
    assert (got.reply.text, got.origin) == ("theirs", "first")
    assert alone.get(spec("a").key) is None
    for store in (first, second, alone):
        store.close()
    assert stored_items(url, "second") == [("a", "first")]


def test_a_lease_is_held_by_one_run_until_it_is_released_or_stored(url):
    first, second = (CallStore(url, run, "read-write") for run in ("first", "second"))
    call = spec("a")
    assert first.lease(call, 60)
    assert first.lease(call, 60)
    assert not second.lease(call, 60)
    assert second.lease(spec("b"), 60)
    first.release(call)
    assert second.lease(call, 60)
    second.put(call, reply())
    assert first.lease(call, 60)
    first.close()
    second.close()


def test_runs_that_do_not_share_calls_do_not_wait_for_each_other(url):
    first, second = CallStore(url, "first"), CallStore(url, "second")
    assert first.lease(spec("a"), 60)
    assert second.lease(spec("a"), 60)
    first.close()
    second.close()


def test_a_lease_runs_out(url):
    first, second = (CallStore(url, run, "read-write") for run in ("first", "second"))
    assert first.lease(spec("a"), 0.0)
    assert second.lease(spec("a"), 60)
    # What the first run gives back now is no longer its own.
    first.release(spec("a"))
    assert not first.lease(spec("a"), 60)
    first.close()
    second.close()


def test_a_clock_that_jumped_back_blocks_nobody(url):
    first, second = (CallStore(url, run, "read-write") for run in ("first", "second"))
    # As if taken before the database's clock was set back by a day.
    assert first.lease(spec("a"), 86_400)
    assert second.lease(spec("a"), 60)
    first.close()
    second.close()


def test_a_killed_run_knows_what_was_in_flight_and_nobody_else_does(url):
    killed, other = CallStore(url, "killed"), CallStore(url, "other")
    for name in "abc":
        killed.lease(spec(name), 60)
    other.lease(spec("d"), 60)
    killed.put(spec("b"), reply())
    killed._connection.close()  # no orderly end
    killed._connection.engine.dispose()
    again = CallStore(url, "killed")
    assert sorted(left.call for left in again.unfinished) == [
        "judge of a by test/judge, sample 0",
        "judge of c by test/judge, sample 0",
    ]
    again.close()
    other.close()
    for run, left in (("killed", 0), ("other", 1)):
        store = CallStore(url, run)
        assert len(store.unfinished) == left
        store.close()


def test_a_lease_left_beside_a_stored_call_is_nothing_unfinished(url):
    """Killed between storing the reply and giving the lease back."""
    store = CallStore(url, "run")
    store.lease(spec("a"), 60)
    store._leased.clear()
    store.put(spec("a"), reply())
    store.close()
    store = CallStore(url, "run")
    assert store.unfinished == ()
    store.close()


class Outside(ScriptedModel):
    """A model that says it is not in this process."""

    async def aclose(self):
        """Nothing to close."""


def test_two_runs_at_once_buy_each_call_once(url):
    stores = [CallStore(url, run, "read-write") for run in ("first", "second")]
    model = Outside(delay_s=0.02)
    callers = [
        Caller({"test/judge": model}, store, Ledger(Caps()), concurrency=4) for store in stores
    ]
    specs = [spec(str(n)) for n in range(12)]

    async def scene():
        async with asyncio.timeout(30):
            await asyncio.gather(*(c.call(s) for c in callers for s in specs))

    asyncio.run(scene())
    assert len(model.requests) == 12
    assert sum(caller.ledger.totals.calls for caller in callers) == 12
    assert sum(caller.ledger.totals.reused for caller in callers) == 12
    assert [len(store) for store in stores] == [12, 12]
    for store in stores:
        store.close()


def test_what_must_be_bought_afresh_is_not_taken_from_another_run(url):
    """The drift check asks whether the provider still answers as it did: its calls are its own."""
    drift = replace(spec("a"), occasion="drift")
    model = Outside()
    for run in ("first", "second"):
        store = CallStore(url, run, "read-write")
        caller = Caller({"test/judge": model}, store, Ledger(Caps()), concurrency=1)
        for call in (spec("a"), drift, drift):
            asyncio.run(caller.call(call))
        store.close()
    assert len(model.requests) == 3
    replayed = CallStore(url, "third", "replay")
    assert replayed.get(drift.key, afresh=True) is not None
    replayed.close()


def test_a_run_whose_neighbour_gave_up_buys_the_call_itself(url):
    first, second = (CallStore(url, run, "read-write") for run in ("first", "second"))
    first.lease(spec("a"), 60)
    caller = Caller({"test/judge": Outside()}, second, Ledger(Caps()), concurrency=1)

    async def scene():
        waiting = asyncio.create_task(caller.call(spec("a")))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        first.release(spec("a"))
        return await waiting

    assert asyncio.run(scene()).origin is None
    first.close()
    second.close()


WORKER = """
import asyncio, sys
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.models.openai_client import OpenAICompatibleModel
from heldout.students.calls.store import CallStore
from tests.support.calls import FREE, spec
from dataclasses import replace
url, run, base = sys.argv[1:]
pin = replace(FREE, id="openai/m")
async def main():
    store = CallStore(url, run, "read-write")
    model = OpenAICompatibleModel(base)
    caller = Caller({"openai/m": model}, store, Ledger(Caps()), concurrency=4)
    await asyncio.gather(*(caller.call(spec(str(n), pin=pin)) for n in range(30)))
    await model.aclose()
    print(caller.counts.made, len(store))
    store.close()
asyncio.run(main())
"""


def test_processes_on_one_store_buy_each_call_once(empty_server):
    provider = Provider(latency_s=0.02)
    with serving(provider) as loopback:
        command = [sys.executable, "-c", WORKER, empty_server]
        running = [
            subprocess.Popen([*command, run, loopback.api_base], stdout=subprocess.PIPE, text=True)
            for run in ("first", "second")
        ]
        said = [process.communicate(timeout=60)[0].split() for process in running]
    assert [stored for _, stored in said] == ["30", "30"]
    assert sum(int(made) for made, _ in said) == 30
    assert set(provider.asked.values()) == {1}
    assert len(provider.asked) == 30


def test_a_server_that_goes_away_stops_the_run_resumably(tmp_path):
    with postgres() as url:
        store = CallStore(url, "run")
        store.put(spec("a"), reply())
    with pytest.raises(StoreUnavailable, match="server"):
        store.put(spec("b"), reply())
    assert store.get(spec("a").key) is not None
    with pytest.raises(BadInput, match="does not answer"):
        CallStore(url, "run")


def test_a_password_in_the_address_is_not_shown():
    with pytest.raises(BadInput) as caught:
        CallStore("postgresql+psycopg://me:hush-hush@127.0.0.1:9/db", "run")
    assert "hush-hush" not in str(caught.value)


def test_leases_hold_no_text(url, tmp_path):
    store = CallStore(url, "run")
    store.lease(spec("a", text="CANARY-31"), 60)
    rows = store._connection.execute(sa.select(leases.LEASES)).all()
    assert len(rows) == 1
    assert "CANARY-31" not in json.dumps([list(map(str, row)) for row in rows])
    store.close()
