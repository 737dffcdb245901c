"""`heldout sync` and `heldout ui`: the projection of a run from its files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.tracking.content import SyncCounts
from heldout.experiments.tracking.recorder import Recorder
from heldout.experiments.tracking.settings import settings_of
from heldout.experiments.tracking.ui import HOST, SERVER_ENVIRONMENT, server_command


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync wrote; `prompt_uri` of an emitted prompt; `url` of the saved view on a server.

    `url` is None for a database that no server is known for: `heldout ui` starts one.
    """

    counts: SyncCounts
    prompt_uri: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class OpenUi:
    """How to look at a run in MLflow.

    `command` starts a server on the run's store, None where the store is a server already;
    `environment` is what that command needs on top of the caller's; `url` opens the saved view.
    """

    command: tuple[str, ...] | None
    environment: dict[str, str]
    url: str
    run_url: str


def sync(run_dir: Path, tracking_uri: str | None = None) -> SyncResult:
    """Bring a tracking store in step with the run in `run_dir`; says what was written.

    Doing it again writes nothing. Raises BadInput for a folder that holds no run, JournalBroken
    for a damaged journal, TrackingFailed when the store does not answer.
    """
    recorder = _caught_up(run_dir, tracking_uri)
    return SyncResult(recorder.counts, recorder.prompt_uri, recorder.address)


def open_ui(run_dir: Path, port: int = 5000, tracking_uri: str | None = None) -> OpenUi:
    """The server command and the addresses for a run, which is brought up to date first.

    Raises what `sync` raises.
    """
    recorder = _caught_up(run_dir, tracking_uri)
    uri, is_local = recorder.settings.uri, recorder.settings.is_local
    base = f"http://{HOST}:{port}" if is_local else uri.rstrip("/")
    return OpenUi(
        command=server_command(uri, port) if is_local else None,
        environment={name: os.environ.get(name, v) for name, v in SERVER_ENVIRONMENT.items()},
        url=f"{base}{recorder.view_fragment or recorder.run_fragment}",
        run_url=f"{base}{recorder.run_fragment}",
    )


def _caught_up(run_dir: Path, tracking_uri: str | None) -> Recorder:
    recorder = Recorder(run_dir, settings_of(run_dir, tracking_uri))
    recorder.catch_up()
    return recorder
