"""The projection: what a journal says, brought into a tracking store, as often as one likes.

Every run carries the digest of the content it was last given; equal digests mean that there is
nothing to do. Only tags with our prefix are written; a note that somebody has edited is left
alone; a run that somebody deleted is not made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from heldout.experiments.tracking.content import (
    CAMPAIGN,
    NOTE,
    TAG,
    PromptContent,
    RunContent,
    SyncCounts,
)
from heldout.splits.hashing import sha256_text

if TYPE_CHECKING:
    from heldout.experiments.tracking.client import StoredRun, TrackingClient

DIGEST_TAG, NOTE_TAG = f"{TAG}projection_sha256", f"{TAG}note_sha256"
FILES_TAG, INPUTS_TAG = f"{TAG}files", f"{TAG}inputs"
MOST_IN_TAG = 7_500
"""MLflow cuts a tag silently at 8,000 characters."""
LINKED = "mlflow.linkedPrompts"
"""Run tag that MLflow shows as the prompts of a run."""


class Projection:
    """Runs of one campaign in one store. Used by one thread, which `write_all` may fan out."""

    def __init__(self, client: TrackingClient, run_id: str, *, workers: int = 1) -> None:
        self.client = client
        self.run_id = run_id
        self.counts = SyncCounts()
        self.known = client.runs(run_id)
        self._workers = workers
        self._sent: dict[str, int] = {}
        self._counting = Lock()
        self.counts.deleted_by_reviewer = sum(found.deleted for found in self.known.values())

    @property
    def parent(self) -> StoredRun | None:
        """The parent run, None while there is none."""
        return self.known.get(CAMPAIGN)

    @property
    def abandoned(self) -> bool:
        """True where a reviewer deleted the parent run: then nothing is written any more."""
        return self.parent is not None and self.parent.deleted

    def write_all(self, contents: Iterable[RunContent]) -> None:
        """Write several children, side by side where the store takes that."""
        if self._workers == 1:
            for content in contents:
                self.write(content)
            return
        with ThreadPoolExecutor(self._workers, thread_name_prefix="tracking") as pool:
            for _ in pool.map(self.write, contents):
                pass

    def write(self, content: RunContent) -> None:
        """Bring one run up to date."""
        found = self.known.get(content.key)
        if self.abandoned or (found is not None and found.deleted):
            return
        if found is not None and found.tags.get(DIGEST_TAG) == content.sha256:
            return
        if found is None:
            parent = None if content.key == CAMPAIGN or self.parent is None else self.parent.id
            found = self.client.create(self.run_id, content, parent)
            self._count(runs_created=1)
        else:
            self._count(runs_updated=1)
        self.known[content.key] = self._fill(found, content)

    def register(self, content: PromptContent, candidate: str) -> str | None:
        """Register a prompt, unless it is there, and link it to the runs of its candidate.

        Returns `prompts:/name/version`, or None where a reviewer deleted one of the runs.
        """
        run = self.known.get(candidate)
        if self.abandoned or run is None or run.deleted:
            return None
        version = self.client.prompt_version(content.name, content.identity)
        if version is None:
            version = self.client.register_prompt(content)
            self._count(prompt_versions=1)
        # The client's own call for this looks the run up in a store of the process, not in ours.
        link = json.dumps([{"name": content.name, "version": str(version)}])
        self._tag(candidate, LINKED, link)
        self._tag(CAMPAIGN, LINKED, link)
        return f"prompts:/{content.name}/{version}"

    def _tag(self, key: str, name: str, value: str) -> None:
        """Set one tag of a run, unless it is set already or the run is gone."""
        found = self.known.get(key)
        if found is None or found.deleted or found.tags.get(name) == value:
            return
        self.client.log(found.id, tags={name: value})
        self.known[key] = replace(found, tags={**found.tags, name: value})

    def _fill(self, found: StoredRun, content: RunContent) -> StoredRun:
        tags = {**content.tags, **self._note(found, content)}
        if content.files:
            files = self._files(found, content)
            tags[FILES_TAG] = json.dumps(files, separators=(",", ":"))[:MOST_IN_TAG]
        if content.inputs:
            tags[INPUTS_TAG] = self._inputs(found, content)
        self.client.set_info(found, content)
        points = content.points[self._sent.get(content.key, 0) :]
        params = {k: v for k, v in content.params.items() if k not in found.params}
        # The store writes tags after everything else, so a run that was cut short lacks the digest
        # and is written again.
        tags[DIGEST_TAG] = content.sha256
        self.client.log(found.id, points=points, params=params, tags=tags)
        self._sent[content.key] = len(content.points)
        self._count(metrics=len(points))
        return replace(
            found,
            name=content.name,
            status=content.status,
            tags={**found.tags, **tags},
            params={**found.params, **params},
        )

    def _inputs(self, found: StoredRun, content: RunContent) -> str:
        """Log dataset inputs that are new; what the tag says of them then."""
        now = json.dumps([f"{data.name} {data.digest}" for data in content.inputs])
        if found.tags.get(INPUTS_TAG) != now:
            self.client.inputs(found.id, content.inputs)
            self._count(datasets=len(content.inputs))
        return now

    def _count(self, **added: int) -> None:
        with self._counting:
            for name, number in added.items():
                setattr(self.counts, name, getattr(self.counts, name) + number)

    def _files(self, found: StoredRun, content: RunContent) -> dict[str, str]:
        """Upload what changed, remove what is gone; the hashes of what is there now."""
        there = _read(found.tags.get(FILES_TAG))
        now = content.file_hashes
        changed = {p: content.files[p] for p, digest in now.items() if there.get(p) != digest}
        self.client.put_files(found, changed)
        self.client.remove_files(found, sorted(set(there) - set(now)))
        self._count(artifacts=len(changed))
        return now

    def _note(self, found: StoredRun, content: RunContent) -> dict[str, str]:
        """The note, unless somebody has written another one since."""
        if not content.note:
            return {}
        there = found.tags.get(NOTE)
        if there is not None and sha256_text(there) != found.tags.get(NOTE_TAG):
            return {}
        note = content.note[:MOST_IN_TAG]
        return {NOTE: note, NOTE_TAG: sha256_text(note)}


def _read(text: str | None) -> Mapping[str, str]:
    """Hashes by artifact path as the tag holds them; none where the tag is absent or cut."""
    if not text or not text.endswith("}"):
        return {}
    found: dict[str, str] = json.loads(text)
    return found
