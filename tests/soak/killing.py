"""A campaign killed at a random point and resumed: same lineage, no stored call bought again.

The child runs with models that note every request in a file before they answer. What was asked
before the kill and is in the store must not be asked again; what is asked twice was in flight.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.running import prepare, resume, start
from heldout.experiments.campaigns.session import RunOptions, SessionResult
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.hashing import sha256_json
from heldout.splits.randomness import uniform
from heldout.students.models.chat import ChatModel, ChatReply, ChatRequest

CONCURRENCY = 8
SETTINGS = (f"concurrency={CONCURRENCY}", "tracking.enabled=false", "search.iterations=12")


class Noting:
    """A model that writes down what it is asked before it answers."""

    def __init__(self, model: ChatModel, log: Path) -> None:
        self._model, self._log = model, log

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Note the request, then answer."""
        with self._log.open("a", encoding="utf-8") as handle:
            handle.write(request_id(request) + "\n")
        return await self._model.complete(request)


def request_id(request: ChatRequest) -> str:
    """What tells two requests apart; the store keeps both parts of it."""
    texts = [[m.role, m.content] for m in request.messages]
    return f"{sha256_json(texts)}:{request.seed}"


def noting_models(log: Path) -> dict[str, ChatModel]:
    """The simulated models, each noting what it is asked."""
    return {name: Noting(model, log) for name, model in simulated_models().items()}


def work(folder: Path) -> SessionResult:
    """Start or resume the run in `folder`; what the child does."""
    run = folder / "run"
    options = RunOptions(quiet=True, doubles=noting_models(folder / "asked.log"))
    if RunDirectory(run).config.exists():
        return resume(run, (), options)
    return start(prepare(Path("configs/ranks_only.yaml"), SETTINGS, run), run, options)


def kill_and_resume(folder: Path, number: int) -> dict[str, Any]:
    """Kill a child at a point drawn from `number`, resume, and compare with an unharmed run."""
    whole = folder / "whole"
    whole.mkdir()
    began = time.monotonic()
    unharmed = work(whole)
    length = time.monotonic() - began
    killed = folder / "killed"
    killed.mkdir()
    stored = _kill(killed, after=uniform("kill", number) * length)
    before = _asked(killed)
    ended = work(killed)
    needed, after = _asked(whole), _asked(killed) - before
    return {
        "stored_at_kill": stored.total(),
        "asked_twice": (before + after - needed).total(),
        "stored_asked_again": (after - (needed - stored)).total(),
        "in_flight_allowed": CONCURRENCY,
        "same_lineage": _lineage(ended) == _lineage(unharmed),
        "exit_status": ended.exit_status,
    }


def _asked(folder: Path) -> Counter[str]:
    """How often each request was made in a run so far."""
    log = folder / "asked.log"
    return Counter(log.read_text(encoding="utf-8").split()) if log.exists() else Counter()


def _kill(folder: Path, after: float) -> Counter[str]:
    """Run a child and SIGKILL it `after` seconds into its campaign; what it had stored by then."""
    program = (
        "import sys; from pathlib import Path; from tests.soak.killing import work; "
        "work(Path(sys.argv[1]))"
    )
    child = subprocess.Popen([sys.executable, "-c", program, str(folder)])
    run = RunDirectory(folder / "run")
    while child.poll() is None and not run.journal.exists():
        time.sleep(0.01)
    time.sleep(after)
    if child.poll() is None:
        os.kill(child.pid, signal.SIGKILL)
    child.wait()
    return _stored(run)


def _stored(run: RunDirectory) -> Counter[str]:
    if not run.store.exists():
        return Counter()
    with sqlite3.connect(run.store) as connection:
        rows = connection.execute("select messages_sha256, seed from calls").fetchall()
    return Counter(f"{messages}:{seed}" for messages, seed in rows)


def _lineage(ended: SessionResult) -> str:
    lineage: str = ended.run.to_json()["lineage_sha256"]
    return lineage
