"""What recording a run in MLflow costs, and that none of it is paid by the campaign.

    python -m tests.benchmarks.tracking RUN [RUN …] [--server]

Each run's journal is replayed through the live writer, then synced to a fresh SQLite store, then
synced again; with `--server` also to a real server. CPU is the process's (user and system), so
that a loaded machine does not matter; seconds are the wall's.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.tracking import TrackingSettings, TrackingWriter, sync
from heldout.experiments.tracking.client import TrackingClient
from heldout.experiments.tracking.ui import SERVER_ENVIRONMENT, server_command
from heldout.gepa.record.journal import read_journal
from heldout.gepa.record.run import Run

PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Measured:
    """One way of recording one run; `campaign_ms` is what the campaign's own thread paid."""

    way: str
    candidates: int
    cpu_s: float
    wall_s: float
    written: int
    campaign_ms: float | None = None

    @property
    def row(self) -> str:
        """As a line of the table."""
        each = 1e3 * self.cpu_s / self.candidates
        paid = "" if self.campaign_ms is None else f"{self.campaign_ms:.3f}"
        return (
            f"| {self.way} | {self.candidates} | {self.cpu_s:.1f} | {each:.0f} | "
            f"{self.wall_s:.1f} | {self.written} | {paid} |"
        )


HEAD = (
    "| recorded | candidates | CPU s | CPU ms a candidate | wall s | written | "
    "ms paid by the campaign |\n|---|---|---|---|---|---|---|"
)


def live(run_dir: Path, uri: str) -> Measured:
    """The whole journal through the live writer, as fast as it can be read."""
    events = read_journal(run_dir / "journal.jsonl")
    began, wall = time.process_time(), time.monotonic()
    writer = TrackingWriter(run_dir, TrackingSettings(uri, text="full"))
    paid = time.thread_time()
    for event in events:
        writer.observe(event, False)
    paid = time.thread_time() - paid
    writer.close(timeout=600)
    if writer.failure is not None:
        raise SystemExit(f"tracking stopped: {writer.failure}")
    spent = time.process_time() - began, time.monotonic() - wall
    candidates = len(Run.at(run_dir).candidates)
    return Measured("live, SQLite", candidates, *spent, len(events), 1e3 * paid)


def synced(way: str, run_dir: Path, uri: str) -> Measured:
    """One sync."""
    candidates = len(Run.at(run_dir).candidates)
    began, wall = time.process_time(), time.monotonic()
    written = sync(run_dir, uri).counts.changes
    return Measured(way, candidates, time.process_time() - began, time.monotonic() - wall, written)


def measure(run_dir: Path, *, server: bool) -> Iterator[Measured]:
    """Every way of recording one run, each into a store of its own."""
    with _store() as uri:
        yield live(run_dir, uri)
        yield synced("synced after that", run_dir, uri)
    with _store() as uri:
        yield synced("synced, SQLite", run_dir, uri)
        yield synced("synced again", run_dir, uri)
    if server:
        with _store() as uri, _serving(uri) as address:
            yield synced("synced, server", run_dir, address)
            yield synced("synced again, server", run_dir, address)


@contextmanager
def _store() -> Iterator[str]:
    """An empty store whose tables are there: making them takes seconds, once."""
    with tempfile.TemporaryDirectory(prefix="heldout-") as folder:
        uri = f"sqlite:///{folder}/mlflow.db"
        TrackingClient(TrackingSettings(uri, "unrelated"))
        yield uri


@contextmanager
def _serving(uri: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, **SERVER_ENVIRONMENT}
    process = subprocess.Popen(
        server_command(uri, port),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _until(lambda: _answers(address))
        yield address
    finally:
        process.terminate()
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=2):
            return True
    except OSError:
        return False


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("the server did not start")
        time.sleep(0.2)


def main() -> None:
    """Print the table of `docs/reviewing.md`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--server", action="store_true")
    arguments = parser.parse_args()
    print(HEAD)
    for run_dir in arguments.runs:
        for measured in measure(run_dir, server=arguments.server):
            print(measured.row, flush=True)


if __name__ == "__main__":
    main()
