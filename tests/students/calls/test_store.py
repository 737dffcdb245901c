import json
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.calls import reply, spec

from heldout.splits.errors import BadInput, StoreUnavailable
from heldout.students.calls import database
from heldout.students.calls.call import Stage
from heldout.students.calls.database import shown_url
from heldout.students.calls.store import CallStore, Reuse
from heldout.students.calls.store_rows import storable
from heldout.students.calls.transfer import read_rows
from heldout.students.models.chat import ChatReply, Message, ModelPin, StopReason, Usage


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/calls.sqlite"


def opened(url, run="run", reuse=Reuse.OFF):
    return CallStore(url, run, reuse)


def test_a_call_comes_back_as_it_was_put_after_reopening(url):
    pin = ModelPin("p/m", 0.3, {"top_p": 0.9}, 1.0, 2.0)
    question = replace(spec("n1", pin=pin, attempt=2), sample=3, occasion="drift")
    answer = ChatReply(
        "text",
        StopReason.LENGTH,
        Usage(9, 8, 7, 6),
        None,
        "m-2025",
        reasoning="thought",
        raw="{}",
    )
    store = opened(url)
    put = store.put(question, answer, latency_s=1.5, elapsed_s=60.0)
    store.close()
    store = opened(url)
    assert store.get(question.key) == put
    assert list(store.calls()) == [put]
    assert put.reply == replace(answer, raw="")
    assert (put.latency_s, put.elapsed_s, put.origin) == (1.5, 60.0, None)
    assert (put.model, put.temperature, json.loads(put.parameters)) == (
        "p/m",
        0.3,
        {"top_p": 0.9},
    )
    assert (put.sample, put.attempt, put.occasion, put.seed) == (3, 2, "drift", 7)
    assert put.messages_sha256 == question.messages_sha256
    store.close()
    # Word for word it stays in the database.
    assert [row.raw for row in read_rows(url)] == ["{}"]


@pytest.mark.parametrize("stage", list(Stage))
def test_messages_are_stored_for_reflect_and_merge_only(url, tmp_path, stage):
    store = opened(url)
    put = store.put(spec("n", stage=stage, text="CANARY-4711"), reply())
    store.close()
    held = any(b"CANARY-4711" in path.read_bytes() for path in tmp_path.iterdir())
    assert held == (stage in (Stage.REFLECT, Stage.MERGE))
    kept = (Message("user", "CANARY-4711 n"),)
    assert put.conversation == (kept if held else ())


def test_the_first_reply_stays(url):
    store = opened(url)
    store.put(spec(), reply("first"))
    assert store.put(spec(), reply("second")).reply.text == "first"
    assert len(store) == 1
    store.close()


@pytest.mark.parametrize(
    ("reuse", "found"), [("off", False), ("read-write", True), ("replay", True)]
)
def test_calls_of_other_runs_are_used_only_where_the_mode_says_so(url, reuse, found):
    first = opened(url, "first")
    first.put(spec(), reply("theirs", usd=0.5))
    first.close()
    second = opened(url, "second", reuse)
    got = second.get(spec().key)
    assert (got is not None) == found
    if got is not None:
        assert (got.run_id, got.origin, got.reply.text) == ("second", "first", "theirs")
    second.close()
    # What was taken over is the run's own from then on.
    third = opened(url, "second")
    assert (third.get(spec().key) is not None) == found
    third.close()


def test_origin_names_the_run_that_paid_through_any_number_of_hands(url):
    for run in ("a", "b", "c"):
        store = opened(url, run, "read-write")
        got = store.get(spec().key) or store.put(spec(), reply())
        assert got.origin == (None if run == "a" else "a")
        store.close()


KILLED = """
import os, signal, sys
from heldout.students.calls.store import CallStore
from tests.support.calls import reply, spec
store = CallStore(sys.argv[1], "run")
for n in range(int(sys.argv[2])):
    store.put(spec(str(n)), reply(str(n)))
    print(n, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_every_call_that_put_returned_survives_a_kill(url):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, url, "40"], capture_output=True, text=True, check=False
    )
    assert done.returncode == -9, done.stderr
    store = opened(url)
    assert [call.reply.text for call in store.calls()] == done.stdout.split()
    assert len(store) == 40
    store.close()


def test_sync_flushes_the_log_once_a_change(url, monkeypatch):
    synced = []
    store = opened(url)
    monkeypatch.setattr(
        database.os,
        "fsync",
        lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink()),
    )
    store.sync()
    assert synced == []
    store.put(spec(), reply())
    store.sync()
    store.sync()
    assert [path.name for path in synced] == ["calls.sqlite-wal"]
    store.close()


def test_a_disk_that_fills_up_stops_the_run_and_loses_nothing(url):
    store = opened(url)
    store.put(spec("before"), reply())
    pages = store._connection.exec_driver_sql("PRAGMA page_count").scalar()
    store._connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreUnavailable, match="disk is full") as caught:
        [store.put(spec(f"n{n}"), reply("x" * 4000)) for n in range(1000)]
    assert caught.value.exit_status == 3
    held = [call.item for call in store.calls()]
    store._connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    # The same store goes on once there is space.
    store.put(spec("after"), reply())
    store.close()
    store = opened(url)
    assert [call.item for call in store.calls()] == [*held, "after"]
    store.close()


def test_a_store_locked_by_another_process_is_named(url, monkeypatch):
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    store = opened(url)
    other = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreUnavailable, match=r"calls\.sqlite: another process holds"):
        store.put(spec(), reply())
    other.execute("ROLLBACK")
    assert store.put(spec(), reply()).reply.text == "fine"
    other.execute("BEGIN EXCLUSIVE")
    assert store.get(spec().key) is not None
    other.close()
    store.close()


def test_a_store_that_cannot_be_opened_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="folder does not exist"):
        opened(f"sqlite:///{tmp_path}/absent/calls.sqlite")
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"not a database at all, " * 100)
    with pytest.raises(BadInput, match="no SQLite database"):
        opened(f"sqlite:///{broken}")
    with pytest.raises(BadInput, match="not a database address"):
        opened("nonsense://x")
    with pytest.raises(BadInput, match="not a database address"):
        opened("no url")


def test_a_store_that_may_only_be_read_is_refused_at_the_start(url, tmp_path):
    opened(url).close()
    # The superuser may write anywhere, so SQLite itself is told to open read-only.
    read_only = f"sqlite:///file:{tmp_path}/calls.sqlite?mode=ro&uri=true"
    with pytest.raises(BadInput, match="read-only"):
        opened(read_only)


def test_a_log_that_was_torn_keeps_every_whole_call(url, tmp_path):
    store = opened(url)
    for n in range(5):
        store.put(spec(str(n)), reply())
    log = (tmp_path / "calls.sqlite-wal").read_bytes()
    main = (tmp_path / "calls.sqlite").read_bytes()
    store.close()
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "calls.sqlite").write_bytes(main)
    (copy / "calls.sqlite-wal").write_bytes(log[:-100])
    store = opened(f"sqlite:///{copy}/calls.sqlite")
    assert [call.item for call in store.calls()] == ["0", "1", "2", "3"]
    store.close()


def test_several_threads_may_use_it(url):
    store = opened(url)

    def work(name):
        for n in range(20):
            store.put(spec(f"{name}-{n}"), reply())

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    store = opened(url)
    assert len(store) == 80
    store.close()


def test_no_password_is_shown():
    assert "hush" not in shown_url("postgresql://me:hush@host/db")
    assert shown_url("nonsense") == "(not a URL)"


@given(st.text(alphabet=st.characters(blacklist_categories=())))
def test_what_is_stored_can_be_stored_and_is_stable(text):
    clean = storable(text)
    assert "\0" not in clean
    assert clean.encode().decode() == clean
    assert storable(clean) == clean
    if "\0" not in text and not any(0xD800 <= ord(c) < 0xE000 for c in text):
        assert clean == text


def test_a_reply_with_unstorable_characters_comes_back_as_it_was_returned(url):
    store = opened(url)
    put = store.put(spec(), reply("a\0b\ud800c"))
    store.close()
    store = opened(url)
    assert store.get(spec().key) == put
    assert put.reply.text == "a\ufffdb\ufffdc"
    store.close()
