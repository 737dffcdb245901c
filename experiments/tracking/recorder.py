"""Follows a run, live or from its files, and keeps a tracking store in step with it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from heldout.experiments.report.pages import run_files
from heldout.experiments.report.reflections import Reflections, reflections_of
from heldout.experiments.report.view import RunView
from heldout.experiments.tracking.campaign_run import campaign_content
from heldout.experiments.tracking.candidate_run import candidate_content
from heldout.experiments.tracking.content import Counts
from heldout.experiments.tracking.opening import open_door
from heldout.experiments.tracking.projection import Projection
from heldout.experiments.tracking.registry import register
from heldout.experiments.tracking.settings import TrackingSettings
from heldout.experiments.tracking.views import save_view, view_fragment
from heldout.gepa.record.events import Event, EventKind

BETWEEN_S = 2.0
"""Seconds between two updates of the parent run while a run is live."""
REMOTE_WORKERS = 8
"""Requests at once to a server; a SQLite file takes one."""


class Recorder:
    """One run directory and one tracking store.

    The store is first met at the first event. Raises TrackingFailed from every method when the
    store does not answer; BadInput when the call store cannot be read.
    """

    def __init__(self, run_dir: Path, settings: TrackingSettings) -> None:
        self.run_dir = run_dir
        self.settings = settings
        self.view = RunView()
        self._projection: Projection | None = None
        self._reflections: Reflections | None = None
        self._unwritten: list[str] = []
        self._next_update = 0.0
        self._view_key: str | None = None
        self.prompt_uri: str | None = None

    @property
    def counts(self) -> Counts:
        """What has been written so far."""
        return Counts() if self._projection is None else self._projection.counts

    @property
    def view_fragment(self) -> str | None:
        """The part of a page address after the server's, for the saved view of this run."""
        if self._projection is None or self._view_key is None:
            return self.fragment
        return view_fragment(self._projection.door.experiment_id, self._view_key)

    @property
    def fragment(self) -> str | None:
        """The part of a page address after the server's, for the parent run."""
        if self._projection is None or self._projection.parent is None:
            return None
        experiment = self._projection.door.experiment_id
        return f"/#/experiments/{experiment}/runs/{self._projection.parent.id}"

    @property
    def address(self) -> str | None:
        """Where a browser finds the saved view; None for a database, which has no address."""
        fragment = self.view_fragment
        if fragment is None or self.settings.is_local:
            return None
        return f"{self.settings.uri.rstrip('/')}{fragment}"

    def add(self, event: Event) -> None:
        """Take in one event; nothing is written yet."""
        self.view.add(event)
        if event.kind is EventKind.CANDIDATE:
            self._unwritten.append(event.body["id"])

    @property
    def _begun(self) -> bool:
        """True once the first look is opened: what ends before leaves nothing behind."""
        return bool(self.view.looks)

    def step(self) -> None:
        """Write the candidates that are new and, now and then, the parent run."""
        if not self._begun:
            return
        due = time.monotonic() >= self._next_update
        if due:
            self._write_parent({})
            self._next_update = time.monotonic() + BETWEEN_S
        self._write_children(self._unwritten)
        self._unwritten = []

    def finish(self) -> None:
        """Bring everything up to date: all children, the parent with its pages."""
        if not self._begun:
            return
        if self._open().parent is None:
            self._write_parent({})
        self._write_children(list(self.view.candidates))
        self._unwritten = []
        policy = self.settings.policy
        self._write_parent(run_files(self.run_dir, self.view, policy))
        projection = self._open()
        if not projection.abandoned:
            self.prompt_uri = register(projection, self.run_dir, self.view, policy)
            self._view_key = save_view(projection, self.view)

    def _open(self) -> Projection:
        if self._projection is None:
            workers = 1 if self.settings.is_local else REMOTE_WORKERS
            door = open_door(self.settings)
            self._projection = Projection(door, self.view.run_id, workers=workers)
        return self._projection

    def _write_parent(self, files: Mapping[str, str]) -> None:
        projection = self._open()
        projection.write(campaign_content(self.view, files, self.settings.policy))

    def _write_children(self, ids: list[str]) -> None:
        projection = self._open()
        if projection.abandoned:
            return
        if self._reflections is None:
            self._reflections = reflections_of(self.run_dir, self.view.run_id)
        reflections, policy = self._reflections, self.settings.policy
        projection.write_all(candidate_content(self.view, id_, reflections, policy) for id_ in ids)
