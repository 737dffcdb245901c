"""The only module that imports MLflow; whoever needs it imports it late, as that takes a second.

Runs are addressed by id, never by an active run (which belongs to a thread). Every fault of a
server or database becomes `TrackingFailed`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, RunTag, ViewType
from mlflow.exceptions import MlflowException
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
from sqlalchemy.exc import SQLAlchemyError

from heldout.experiments.tracking.content import (
    CAMPAIGN,
    KEY_TAG,
    RUN_TAG,
    MetricPoint,
    PromptContent,
    RunContent,
    SplitInput,
    TrackingFailed,
)
from heldout.experiments.tracking.settings import TrackingSettings, absolute_uri, artifact_root

PARENT = "mlflow.parentRunId"
PAGE = 1000
SHOWN_WITH = "_mlflow_experiment_ids"
"""Prompt tag with the experiments whose page lists the prompt, between commas."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run that is in the store already."""

    id: str
    name: str
    status: str
    tags: Mapping[str, str]
    params: Mapping[str, str]
    deleted: bool
    artifact_uri: str

    @classmethod
    def of(cls, run: Any) -> StoredRun:
        """A run as MLflow gives it."""
        return cls(
            id=run.info.run_id,
            name=run.info.run_name,
            status=run.info.status,
            tags=dict(run.data.tags),
            params=dict(run.data.params),
            deleted=run.info.lifecycle_stage != "active",
            artifact_uri=run.info.artifact_uri,
        )


@contextmanager
def _reporting_faults() -> Iterator[None]:
    """Turn what MLflow, its HTTP client and the file system raise into TrackingFailed."""
    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError) as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise TrackingFailed(first[0][:300]) from error


class TrackingClient:
    """A tracking store and one experiment in it.

    Raises TrackingFailed when the store cannot be reached, or when the experiment was deleted.
    """

    def __init__(self, settings: TrackingSettings) -> None:
        self.uri = absolute_uri(settings.uri)
        root = artifact_root(settings.uri)
        if root is not None:
            root.parent.mkdir(parents=True, exist_ok=True)
        with _reporting_faults():
            self._client = MlflowClient(tracking_uri=self.uri, registry_uri=self.uri)
            self.experiment_id = self._experiment(settings.experiment, root)

    def _experiment(self, name: str, root: Path | None) -> str:
        found = self._client.get_experiment_by_name(name)
        if found is None:
            location = None if root is None else (root / name).as_uri()
            return str(self._client.create_experiment(name, artifact_location=location))
        if found.lifecycle_stage != "active":
            raise TrackingFailed(
                f"experiment {name!r} was deleted; restore it, or set tracking.experiment"
            )
        return str(found.experiment_id)

    # -- runs ------------------------------------------------------------------------------------

    @_reporting_faults()
    def runs(self, run_id: str) -> dict[str, StoredRun]:
        """All runs of one campaign by key, deleted ones included."""
        found: dict[str, StoredRun] = {}
        token = None
        while True:
            page = self._client.search_runs(
                [self.experiment_id],
                f"tags.`{RUN_TAG}` = '{run_id}'",
                run_view_type=ViewType.ALL,
                max_results=PAGE,
                page_token=token,
            )
            found |= {run.data.tags.get(KEY_TAG, CAMPAIGN): StoredRun.of(run) for run in page}
            token = page.token
            if not token:
                return found

    @_reporting_faults()
    def create(self, run_id: str, content: RunContent, parent: str | None) -> StoredRun:
        """A new run for `content`, with nothing in it but what finds it again."""
        tags = {RUN_TAG: run_id}
        if content.key != CAMPAIGN:
            tags[KEY_TAG] = content.key
        if parent is not None:
            tags[PARENT] = parent
        run = self._client.create_run(
            self.experiment_id, start_time=content.start_ms, tags=tags, run_name=content.name
        )
        return StoredRun.of(run)

    @_reporting_faults()
    def log(
        self,
        id_: str,
        *,
        points: tuple[MetricPoint, ...] = (),
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Metrics, params and tags in as few requests as the store allows."""
        self._client.log_batch(
            id_,
            metrics=[Metric(p.key, p.value, p.time_ms, p.step) for p in points],
            params=[Param(key, value) for key, value in (params or {}).items()],
            tags=[RunTag(key, value) for key, value in (tags or {}).items()],
            synchronous=True,
        )

    @_reporting_faults()
    def set_info(self, run: StoredRun, content: RunContent) -> None:
        """Set name, status and end of a run, where they differ."""
        if run.name != content.name:
            self._client.update_run(run.id, name=content.name)
        if run.status == content.status:
            return
        if content.end_ms is None:
            self._client.update_run(run.id, status=content.status)
        else:
            self._client.set_terminated(run.id, content.status, content.end_ms)

    @_reporting_faults()
    def inputs(self, id_: str, splits: tuple[SplitInput, ...]) -> None:
        """Dataset inputs by role."""
        self._client.log_inputs(
            id_,
            datasets=[
                DatasetInput(
                    Dataset(d.name, d.digest, "heldout", '{"kind": "split"}', None, d.profile),
                    [InputTag("mlflow.data.context", d.role)],
                )
                for d in splits
            ],
        )

    @_reporting_faults()
    def put_files(self, run: StoredRun, files: Mapping[str, str]) -> None:
        """Upload artifacts by path, replacing those of the same path."""
        if not files:
            return
        with tempfile.TemporaryDirectory(prefix="heldout-") as folder:
            for path, text in files.items():
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text.encode("utf-8", "replace"))
            self._artifacts(run).log_artifacts(folder)

    @_reporting_faults()
    def remove_files(self, run: StoredRun, paths: list[str]) -> None:
        """Remove artifacts that are no longer part of a run."""
        for path in paths:
            self._artifacts(run).delete_artifacts(path)

    def _artifacts(self, run: StoredRun) -> Any:
        return get_artifact_repository(run.artifact_uri, tracking_uri=self.uri)

    # -- the experiment and its prompts ----------------------------------------------------------

    @_reporting_faults()
    def tag_experiment(self, key: str, value: str) -> None:
        """Set a tag of the experiment, unless it has that value."""
        if self._client.get_experiment(self.experiment_id).tags.get(key) != value:
            self._client.set_experiment_tag(self.experiment_id, key, value)

    @_reporting_faults()
    def prompt_version(self, name: str, tags: Mapping[str, str]) -> int | None:
        """The version of a prompt that carries all of `tags`; None where there is none."""
        if self._client.get_prompt(name) is None:
            return None
        versions = self._client.search_prompt_versions(name, max_results=PAGE)
        wanted = set(tags.items())
        return next((int(v.version) for v in versions if wanted <= set(v.tags.items())), None)

    @_reporting_faults()
    def register_prompt(self, content: PromptContent) -> int:
        """A new version of a prompt, shown with our experiment; its aliases then mean it."""
        prompt = self._client.get_prompt(content.name)
        if prompt is None:
            prompt = self._client.create_prompt(content.name, description=content.summary)
        shown = [i for i in prompt.tags.get(SHOWN_WITH, "").split(",") if i]
        if self.experiment_id not in shown:
            ids = ",".join([*shown, self.experiment_id])
            self._client.set_prompt_tag(content.name, SHOWN_WITH, f",{ids},")
        version = self._client.create_prompt_version(
            content.name, content.text, description=content.summary, tags=dict(content.tags)
        )
        for alias in content.aliases:
            self._client.set_prompt_alias(content.name, alias, version.version)
        return int(version.version)
