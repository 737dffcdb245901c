"""Where a run is projected to, and what must be set before MLflow is imported."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from heldout.experiments.report.text import TextPolicy
from heldout.gepa.record.run import load_run

SQLITE = "sqlite:///"
DEFAULT_URI = f"{SQLITE}mlruns/mlflow.db"

ENVIRONMENT = {
    # A server that is gone must cost seconds, not the 247 that the defaults add up to.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "GIT_PYTHON_REFRESH": "quiet",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
}
"""Set for client and server alike, unless the person has set them."""


@dataclass(frozen=True, slots=True)
class TrackingSettings:
    """`uri` of the tracking server or database, name of the experiment, and the text policy."""

    uri: str
    experiment: str = "heldout"
    text: TextPolicy | str = TextPolicy.HASHES

    @property
    def policy(self) -> TextPolicy:
        """`text` as a policy. Raises ValueError for a word that is none."""
        return TextPolicy(self.text)

    @property
    def is_local(self) -> bool:
        """True for a SQLite file, which takes one writer at a time and needs no network."""
        return self.uri.startswith(SQLITE)


def set_environment() -> None:
    """Set `ENVIRONMENT` where it is not set."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def default_uri(configured: str | None = None) -> str:
    """`configured`, else `MLFLOW_TRACKING_URI`, else the store under the working folder."""
    return configured or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_URI


def settings_of(run_dir: Path, tracking_uri: str | None = None) -> TrackingSettings:
    """Where the run in `run_dir` is recorded: as its configuration and first event say."""
    config = run_dir / "config.yaml"
    tree: dict[str, Any] = yaml.safe_load(config.read_text("utf-8")) if config.is_file() else {}
    tracking = tree.get("tracking") or {}
    return TrackingSettings(
        uri=tracking_uri or default_uri(tracking.get("uri")),
        experiment=tracking.get("experiment") or "heldout",
        text=TextPolicy(load_run(run_dir).opened.tracking_text),
    )


def database_file(uri: str) -> Path | None:
    """The file of a SQLite store, as an absolute path; None for a server or a store in memory."""
    if not uri.startswith(SQLITE) or uri == SQLITE:
        return None
    path = Path(uri.removeprefix(SQLITE))
    return path if path.is_absolute() else path.resolve()


def absolute_uri(uri: str) -> str:
    """`uri` with a relative SQLite path resolved, so that the working folder may change."""
    file = database_file(uri)
    return uri if file is None else f"{SQLITE}{file}"


def artifact_root(uri: str) -> Path | None:
    """Where artifacts of a SQLite store lie: `artifacts/` beside it; None for a server's own."""
    file = database_file(uri)
    return None if file is None else file.parent / "artifacts"
