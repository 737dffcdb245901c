"""Opening MLflow on the right store and page."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.tracking.lock import tracking_lock
from heldout.experiments.tracking.recorder import Recorder
from heldout.experiments.tracking.settings import ENVIRONMENT, absolute_uri, artifact_root
from heldout.experiments.tracking.syncing import read_into, settings_of

HOST = "127.0.0.1"

SERVER_ENVIRONMENT = {
    **ENVIRONMENT,
    # Seven processes for jobs that nobody starts here.
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}


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


def open_ui(run_dir: Path, port: int = 5000, tracking_uri: str | None = None) -> OpenUi:
    """The server command and the addresses for a run, which is brought up to date first.

    Raises what `sync` raises.
    """
    settings = settings_of(run_dir, tracking_uri)
    recorder = Recorder(run_dir, settings)
    with tracking_lock(run_dir):
        read_into(recorder)
    base = settings.uri.rstrip("/") if not settings.is_local else f"http://{HOST}:{port}"
    return OpenUi(
        command=server_command(settings.uri, port) if settings.is_local else None,
        environment={name: os.environ.get(name, v) for name, v in SERVER_ENVIRONMENT.items()},
        url=f"{base}{recorder.view_fragment}",
        run_url=f"{base}{recorder.fragment}",
    )


def server_command(uri: str, port: int) -> tuple[str, ...]:
    """`mlflow server` on a SQLite store, reachable from this machine only."""
    root = artifact_root(uri)
    return (
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--backend-store-uri",
        absolute_uri(uri),
        "--artifacts-destination",
        root.as_uri() if root is not None else "",
        "--host",
        HOST,
        "--port",
        str(port),
        "--workers",
        "1",
    )
