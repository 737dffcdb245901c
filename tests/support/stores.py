"""Reading back what a tracking store holds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from heldout.experiments.tracking.settings import set_environment

set_environment()

from mlflow import MlflowClient  # noqa: E402
from mlflow.entities import Run, ViewType  # noqa: E402


@dataclass
class Store:
    """One tracking store, read through MLflow's own client."""

    uri: str
    experiment: str = "heldout"
    database: Path | None = None
    """The SQLite file behind a server, where it is at hand."""

    @cached_property
    def client(self) -> MlflowClient:
        """A client of this store and registry."""
        return MlflowClient(tracking_uri=self.uri, registry_uri=self.uri)

    @property
    def experiment_id(self) -> str:
        """Id of the experiment of the runs."""
        return self.client.get_experiment_by_name(self.experiment).experiment_id

    @property
    def runs(self) -> dict[str, Run]:
        """Runs by candidate id, the parent as `campaign`; deleted ones included."""
        found = self.client.search_runs(
            [self.experiment_id], run_view_type=ViewType.ALL, max_results=1000
        )
        keys = [run.data.tags.get("heldout.candidate_id", "campaign") for run in found]
        assert len(set(keys)) == len(keys), "a run was made twice"
        return dict(zip(keys, found, strict=True))

    def artifacts(self, run_id: str, folder: str = "") -> dict[str, str]:
        """Text of every artifact of a run by path."""
        found = {}
        for item in self.client.list_artifacts(run_id, folder):
            if item.is_dir:
                found |= self.artifacts(run_id, item.path)
            else:
                path = self.client.download_artifacts(run_id, item.path)
                found[item.path] = Path(path).read_text("utf-8")
        return found

    def points(self, run: Run) -> list[tuple[Any, ...]]:
        """Every point of every metric of a run, read past the client where there is a file."""
        file = self.database
        if self.uri.startswith("sqlite:///"):
            file = Path(self.uri.removeprefix("sqlite:///"))
        if file is not None:
            with closing(sqlite3.connect(file)) as database:
                query = "select key, value, timestamp, step from metrics where run_uuid = ?"
                return sorted(database.execute(query, [run.info.run_id]))
        return sorted(
            (m.key, m.value, m.timestamp, m.step)
            for key in run.data.metrics
            for m in self.client.get_metric_history(run.info.run_id, key)
        )

    def versions(self, name: str) -> list[Any]:
        """Versions of a prompt."""
        if self.client.get_prompt(name) is None:
            return []
        return list(self.client.search_prompt_versions(name, max_results=100))

    def content(self) -> dict[str, Any]:
        """Everything a run says, without the ids the store has given."""
        return {
            key: {
                "name": run.info.run_name,
                "status": run.info.status,
                "times": (run.info.start_time, run.info.end_time),
                "tags": {k: v for k, v in run.data.tags.items() if k.startswith("heldout.")},
                "note": run.data.tags.get("mlflow.note.content"),
                "params": run.data.params,
                "points": self.points(run),
                "inputs": sorted(
                    (i.dataset.name, i.dataset.digest, i.tags[0].value)
                    for i in run.inputs.dataset_inputs
                ),
                "artifacts": self.artifacts(run.info.run_id),
                "parent": "mlflow.parentRunId" in run.data.tags,
            }
            for key, run in self.runs.items()
        }
