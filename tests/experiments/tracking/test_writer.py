"""Tracking beside a live run: in step with it, never in its way."""

from __future__ import annotations

import importlib.util
import re
import socket
import time

import pytest
from mlflow.environment_variables import (
    MLFLOW_HTTP_REQUEST_MAX_RETRIES,
    MLFLOW_HTTP_REQUEST_TIMEOUT,
)
from tests.support.made_runs import Plan, make_run

from heldout.experiments.tracking import TrackingSettings, TrackingWriter, sync
from heldout.experiments.tracking.client import TrackingClient
from heldout.experiments.tracking.content import TrackingFailed
from heldout.experiments.tracking.recorder import Recorder
from heldout.experiments.tracking.settings import ENVIRONMENT
from heldout.gepa.record.journal import read_journal
from heldout.gepa.record.run import load_run


def _followed(run_dir, settings, plan):
    run_dir.mkdir()
    writer = TrackingWriter(run_dir, settings)
    make_run(run_dir, plan, observers=(writer.observe,))
    writer.close()
    return writer


def test_what_was_written_live_is_not_written_again(tmp_path, store):
    settings = TrackingSettings(store.uri, text="full")
    writer = _followed(tmp_path / "run", settings, Plan(iterations=6))
    assert writer.failure is None
    assert writer.prompt_uri == "prompts:/made/1"
    before = store.content()
    assert set(before) == {"campaign", *load_run(tmp_path / "run").candidates}
    assert sync(tmp_path / "run", store.uri).counts.changes == 0
    assert store.content() == before


def test_a_resumed_run_is_followed_from_its_replayed_events(tmp_path, store):
    settings = TrackingSettings(store.uri, text="full")
    run = tmp_path / "run"
    _followed(run, settings, Plan(iterations=6))
    before = store.content()
    writer = TrackingWriter(run, settings)
    for event in read_journal(run / "journal.jsonl"):
        writer.observe(event, True)
    writer.close()
    assert writer.failure is None
    assert store.content() == before


def test_a_server_that_is_not_there_costs_the_campaign_nothing(tmp_path, store):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()
        writer = _followed(tmp_path / "run", TrackingSettings(address), Plan(iterations=6))
        assert time.monotonic() - started < 10
    assert writer.failure is not None
    assert "\n" not in writer.failure
    assert load_run(tmp_path / "run").decision == "emitted"
    assert sync(tmp_path / "run", store.uri).counts.runs_created > 6


def test_a_fault_of_our_own_does_not_reach_the_campaign(tmp_path, store, monkeypatch):
    def broken(self):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(Recorder, "step", broken)
    writer = _followed(tmp_path / "run", TrackingSettings(store.uri), Plan(iterations=3))
    assert writer.failure == "ZeroDivisionError: oops"


def test_observing_costs_next_to_nothing(tmp_path, store, emitted, monkeypatch):
    """What the campaign's own thread pays: a queue, whatever the writer is at."""
    monkeypatch.setattr(Recorder, "step", lambda _: time.sleep(0.05))
    monkeypatch.setattr(Recorder, "finish", lambda _: None)
    events = read_journal(emitted / "journal.jsonl") * 50
    writer = TrackingWriter(tmp_path, TrackingSettings(store.uri))
    started = time.thread_time()
    for event in events:
        writer.observe(event, False)
    spent = time.thread_time() - started
    writer.close()
    assert spent / len(events) < 50e-6


def test_a_store_that_hangs_is_given_up_after_the_timeout(tmp_path, store, emitted, monkeypatch):
    monkeypatch.setattr(Recorder, "finish", lambda _: time.sleep(1.0))
    writer = TrackingWriter(tmp_path, TrackingSettings(store.uri))
    started = time.monotonic()
    writer.close(timeout=0.1)
    assert time.monotonic() - started < 0.9
    assert writer.failure == "not finished within 0.1 s"


def test_a_run_that_ends_before_its_first_look_leaves_nothing(tmp_path, store, emitted):
    events = read_journal(emitted / "journal.jsonl")
    first_look = next(i for i, e in enumerate(events) if e.kind == "look")
    writer = TrackingWriter(tmp_path, TrackingSettings(store.uri))
    for event in events[:first_look]:
        writer.observe(event, False)
    writer.close()
    assert writer.failure is None
    assert store.client.get_experiment_by_name("heldout") is None


def test_a_hundred_candidates_cost_at_most_sixty_milliseconds_each(tmp_path, store):
    """gepa 0.1.4 spends about 745 ms on every accepted candidate, in the way of its search."""
    run = make_run(tmp_path / "run", Plan(iterations=98, consultations=24))
    events = read_journal(run / "journal.jsonl")
    TrackingClient(TrackingSettings(store.uri))
    before = time.process_time()
    writer = TrackingWriter(run, TrackingSettings(store.uri, text="full"))
    for event in events:
        writer.observe(event, False)
    writer.close()
    spent = time.process_time() - before
    assert writer.failure is None
    assert len(store.runs) == 101
    assert spent / 100 < 0.060


def test_a_server_that_is_gone_is_met_with_short_patience(monkeypatch):
    """MLflow's defaults add up to 247 s a refused connection."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    # A second copy of the package, imported in a process where nothing is set.
    spec = importlib.util.find_spec("heldout.experiments.tracking")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert MLFLOW_HTTP_REQUEST_MAX_RETRIES.get() == 1
    assert MLFLOW_HTTP_REQUEST_TIMEOUT.get() == 5


def test_a_broken_database_is_named(tmp_path):
    run = make_run(tmp_path / "run", Plan(iterations=2))
    broken = tmp_path / "mlflow.db"
    broken.write_bytes(b"no database" * 500)
    with pytest.raises(TrackingFailed, match=re.escape(str(broken))) as failed:
        sync(run, f"sqlite:///{broken}")
    assert "\n" not in str(failed.value)
