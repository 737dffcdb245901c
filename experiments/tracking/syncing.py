"""`heldout sync`: the same projection, from the files of a run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from heldout.experiments.report.text import TextPolicy
from heldout.experiments.report.view import read_view
from heldout.experiments.tracking.content import Counts
from heldout.experiments.tracking.lock import tracking_lock
from heldout.experiments.tracking.recorder import Recorder
from heldout.experiments.tracking.settings import TrackingSettings

DEFAULT_URI = "sqlite:///mlruns/mlflow.db"


def default_uri(configured: str | None = None) -> str:
    """`configured`, else `MLFLOW_TRACKING_URI`, else the store under the working folder."""
    return configured or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_URI


def settings_of(run_dir: Path, tracking_uri: str | None = None) -> TrackingSettings:
    """Where the run in `run_dir` is recorded: as its configuration and first event say."""
    config = run_dir / "config.yaml"
    tree: dict[str, Any] = yaml.safe_load(config.read_text("utf-8")) if config.is_file() else {}
    tracking = tree.get("tracking") or {}
    text = read_view(run_dir).opened.get("tracking_text", TextPolicy.HASHES)
    return TrackingSettings(
        uri=tracking_uri or default_uri(tracking.get("uri")),
        experiment=tracking.get("experiment") or "heldout",
        text=TextPolicy(text),
    )


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync wrote; `prompt_uri` of an emitted prompt; `url` of the saved view on a server.

    `url` is None for a database that no server is known for: `heldout ui` starts one.
    """

    counts: Counts
    prompt_uri: str | None
    url: str | None


def sync(run_dir: Path, tracking_uri: str | None = None) -> Synced:
    """Bring a tracking store in step with the run in `run_dir`; says what was written.

    Doing it again writes nothing. Raises BadInput for a folder that holds no run, JournalBroken
    for a damaged journal, TrackingFailed when the store does not answer.
    """
    settings = settings_of(run_dir, tracking_uri)
    recorder = Recorder(run_dir, settings)
    with tracking_lock(run_dir):
        read_into(recorder)
    return Synced(recorder.counts, recorder.prompt_uri, recorder.address)


def read_into(recorder: Recorder) -> None:
    """Project the files of a recorder's run."""
    for event in read_view(recorder.run_dir).events:
        recorder.add(event)
    recorder.finish()
