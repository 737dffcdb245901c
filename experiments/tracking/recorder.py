"""Follows a run, live or from its files, and keeps a tracking store in step with it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from heldout.experiments.report.pages import run_files
from heldout.experiments.report.reflections import Reflections, reflections_of
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.tracking.campaign_run import (
    campaign_content,
    campaign_metrics,
    prompt_content,
)
from heldout.experiments.tracking.candidate_run import candidate_content
from heldout.experiments.tracking.content import (
    MetricPoint,
    SyncCounts,
    TrackingFailed,
    points_at,
)
from heldout.experiments.tracking.projection import Projection
from heldout.experiments.tracking.settings import TrackingSettings, database_file
from heldout.experiments.tracking.ui import save_view
from heldout.gepa.record.codec import Event
from heldout.gepa.record.events import CandidateEvent
from heldout.gepa.record.run import Run, load_run
from heldout.splits.errors import BadInput
from heldout.students.calls.database import shown_url

BETWEEN_S = 2.0
"""Seconds between two updates of the parent run while a run is live."""
REMOTE_WORKERS = 8
"""Requests at once to a server; a SQLite file takes one."""
LOCK_S = 10.0


class Recorder:
    """One run directory and one tracking store; `counts` says what has been written so far.

    `run_fragment` and `view_fragment` are the parts of a page's address after the server's, for
    the parent run and for the saved view, None before they are there. The store is first met at
    the first event. Raises TrackingFailed from every method when the store does not answer;
    BadInput when the call store cannot be read.
    """

    def __init__(self, run_dir: Path, settings: TrackingSettings) -> None:
        self.run_dir = run_dir
        self.settings = settings
        self.run = Run(run_dir)
        self.counts = SyncCounts()
        self.prompt_uri: str | None = None
        self.view_fragment: str | None = None
        self._projection: Projection | None = None
        self._reflections: Reflections | None = None
        self._points: list[MetricPoint] = []
        self._unwritten: list[str] = []
        self._next_update = 0.0

    @property
    def run_fragment(self) -> str | None:
        """See the class."""
        if self._projection is None or self._projection.parent is None:
            return None
        experiment = self._projection.client.experiment_id
        return f"/#/experiments/{experiment}/runs/{self._projection.parent.id}"

    @property
    def address(self) -> str | None:
        """Where a browser finds the saved view; None for a database, which has no address."""
        fragment = self.view_fragment or self.run_fragment
        if fragment is None or self.settings.is_local:
            return None
        return f"{self.settings.uri.rstrip('/')}{fragment}"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One writer a run: MLflow itself would let two of them make every run twice.

        Raises BadInput when another process keeps it for more than ten seconds, or the folder
        cannot be written.
        """
        lock, where = FileLock(self.run_dir / ".tracking.lock"), str(self.run_dir)
        try:
            lock.acquire(timeout=LOCK_S)
        except Timeout:
            busy = "another process is recording this run in MLflow; wait for it"
            raise BadInput.one(where, busy) from None
        except OSError as error:
            raise BadInput.one(where, f"cannot be written ({error.strerror})") from error
        try:
            yield
        finally:
            lock.release()

    def catch_up(self) -> None:
        """Project the files of the run, as the only writer. Raises what `load_run` raises."""
        with self.lock():
            for event in load_run(self.run_dir).events:
                self.add(event)
            self.finish()

    def add(self, event: Event) -> None:
        """Take in one event; nothing is written yet."""
        self.run.add(event)
        now = self.run.moment(event)
        self._points += points_at(campaign_metrics(event.body), now.time_ms, now.calls)
        if isinstance(event.body, CandidateEvent):
            self._unwritten.append(event.body.id)

    @property
    def _begun(self) -> bool:
        """True once the first look is opened: what ends before leaves nothing behind."""
        return bool(self.run.looks)

    def step(self) -> None:
        """Write the candidates that are new and, now and then, the parent run."""
        if not self._begun:
            return
        if time.monotonic() >= self._next_update:
            self._write_parent({})
            self._next_update = time.monotonic() + BETWEEN_S
        self._write_children(list(dict.fromkeys(self._unwritten)))
        self._unwritten = []

    def finish(self) -> None:
        """Bring everything up to date: all children, the parent with its pages."""
        if not self._begun:
            return
        projection, policy = self._open(), self.settings.policy
        if projection.parent is None:
            self._write_parent({})
        self._write_children(list(self.run.candidates))
        self._unwritten = []
        self._write_parent(run_files(self.run_dir, self.run, policy))
        if projection.abandoned:
            return
        prompt = None if policy is TextPolicy.NONE else prompt_content(self.run)
        if prompt is not None and self.run.winner is not None:
            self.prompt_uri = projection.register(prompt, self.run.winner.id)
        self.view_fragment = save_view(projection.client, self.run)

    def _open(self) -> Projection:
        if self._projection is None:
            # MLflow takes more than a second to import, so only a use of it pays.
            from heldout.experiments.tracking.client import TrackingClient  # noqa: PLC0415

            workers = 1 if self.settings.is_local else REMOTE_WORKERS
            try:
                client = TrackingClient(self.settings)
            except TrackingFailed as failed:
                where = database_file(self.settings.uri) or shown_url(self.settings.uri)
                raise TrackingFailed(f"{where}: {failed}") from failed
            self._projection = Projection(client, self.run.opened.run_id, workers=workers)
            self.counts = self._projection.counts
        return self._projection

    def _write_parent(self, files: Mapping[str, str]) -> None:
        points, policy = tuple(self._points), self.settings.policy
        self._open().write(campaign_content(self.run, points, files, policy))

    def _write_children(self, ids: list[str]) -> None:
        projection = self._open()
        if projection.abandoned:
            return
        if self._reflections is None:
            self._reflections = reflections_of(self.run_dir, self.run.opened.run_id)
        reflections, policy = self._reflections, self.settings.policy
        projection.write_all(candidate_content(self.run, id_, reflections, policy) for id_ in ids)
