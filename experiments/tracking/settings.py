"""Where a run is projected to, and what must be set before MLflow is imported."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.report.text import TextPolicy

SQLITE = "sqlite:///"

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


def absolute_uri(uri: str) -> str:
    """`uri` with a relative SQLite path resolved, so that the working folder may change."""
    if not uri.startswith(SQLITE) or uri.startswith(f"{SQLITE}/") or uri == SQLITE:
        return uri
    return f"{SQLITE}{Path(uri.removeprefix(SQLITE)).resolve()}"


def artifact_root(uri: str) -> Path | None:
    """Where artifacts of a SQLite store lie: `artifacts/` beside it; None for a server's own."""
    absolute = absolute_uri(uri)
    if not absolute.startswith(SQLITE):
        return None
    return Path(absolute.removeprefix(SQLITE)).parent / "artifacts"
