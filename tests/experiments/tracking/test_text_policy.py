"""`tracking.text`: what leaves the run directory, looked for byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.made_runs import Plan, make_run

from heldout.experiments.tracking import TrackingSettings, sync
from heldout.experiments.tracking.recorder import Recorder
from heldout.gepa.record.run import load_run

NAME = "Wilhelmina Oyelaran-Petrossian"


@pytest.fixture(scope="module")
def private(tmp_path_factory) -> Path:
    """A run on a benchmark that is not public; a patient's name stands in reflector prompts."""
    plan = Plan(iterations=6, public=False, clinical=f"{NAME} has a cough.")
    return make_run(tmp_path_factory.mktemp("private") / "run", plan)


def _everything(store) -> bytes:
    """All bytes of a store, its database and its artifacts."""
    folder = Path(store.uri.removeprefix("sqlite:///")).parent
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def _winning_block(run) -> str:
    told = load_run(run)
    return told.candidates[told.winner.id].block


def _projected(run, store, text: str) -> bytes:
    recorder = Recorder(run, TrackingSettings(store.uri, text=text))
    recorder.catch_up()
    return _everything(store)


def test_a_planted_name_leaves_only_under_full(private, store, other_store):
    first = NAME.split(maxsplit=1)[0].encode()
    assert first in (private / "calls.sqlite").read_bytes()
    assert first in _projected(private, store, "full")
    assert first not in _projected(private, other_store, "hashes")


def test_hashes_is_what_a_benchmark_that_is_not_public_gets(private, store):
    sync(private, store.uri)
    kept = _everything(store)
    assert NAME.split(maxsplit=1)[0].encode() not in kept
    block = _winning_block(private).splitlines()[1]
    assert block.encode() in kept


def test_none_lets_no_block_out_either(private, store):
    kept = _projected(private, store, "none")
    told = load_run(private)
    blocks = [c.block for c in told.candidates.values() if c.block]
    lines = {line for block in blocks for line in block.split("\n")}
    assert lines
    assert [line for line in lines if line.encode() in kept] == []
    assert told.winner.sha256.encode() in kept


def test_a_reply_that_repeats_a_note_is_withheld_everywhere(tmp_path, store):
    """An overlap reject is kept as hash and length, never as text, whatever the policy."""
    run = make_run(tmp_path / "run", Plan(iterations=25))
    overlaps = [c for c in load_run(run).candidates.values() if c.reason == "overlap"]
    assert overlaps
    sync(run, store.uri)
    for candidate in overlaps:
        page = store.artifacts(store.runs[candidate.id].info.run_id)["candidate.html"]
        assert "withheld" in page
        assert "BLOCK&gt;&gt;&gt;" not in page
