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

from heldout.experiments.tracking.content import CAMPAIGN, NOTE, TAG, Counts, Found, RunContent
from heldout.splits.hashing import sha256_text

if TYPE_CHECKING:
    from heldout.experiments.tracking.door import Door

DIGEST_TAG, NOTE_TAG = f"{TAG}projection_sha256", f"{TAG}note_sha256"
FILES_TAG, INPUTS_TAG = f"{TAG}files", f"{TAG}inputs"
MOST_IN_TAG = 7_500
"""MLflow cuts a tag silently at 8,000 characters."""


class Projection:
    """Runs of one campaign in one store. Used by one thread, which `write_all` may fan out."""

    def __init__(self, door: Door, run_id: str, *, workers: int = 1) -> None:
        self.door = door
        self.run_id = run_id
        self.counts = Counts()
        self.known = door.runs(run_id)
        self._workers = workers
        self._sent: dict[str, int] = {}
        self._counting = Lock()
        self.counts.deleted_by_reviewer = sum(found.deleted for found in self.known.values())

    @property
    def parent(self) -> Found | None:
        """The parent run, None while there is none."""
        return self.known.get(CAMPAIGN)

    @property
    def abandoned(self) -> bool:
        """True where a reviewer deleted the parent run: then nothing is written any more."""
        return self.parent is not None and self.parent.deleted

    def write_all(self, contents: Iterable[RunContent]) -> None:
        """Write several children, side by side where the store takes that."""
        wanted = list(contents)
        if self._workers == 1:
            for content in wanted:
                self.write(content)
            return
        with ThreadPoolExecutor(self._workers, thread_name_prefix="tracking") as pool:
            for _ in pool.map(self.write, wanted):
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
            found = self.door.create(self.run_id, content, parent)
            self._count(runs_created=1)
        else:
            self._count(runs_updated=1)
        self.known[content.key] = self._fill(found, content)

    def tag(self, key: str, name: str, value: str) -> None:
        """Set one tag of a run, unless it is set already or the run is gone."""
        found = self.known.get(key)
        if found is None or found.deleted or found.tags.get(name) == value:
            return
        self.door.log(found.id, tags={name: value})
        self.known[key] = replace(found, tags={**found.tags, name: value})

    def _fill(self, found: Found, content: RunContent) -> Found:
        tags = {**content.tags, **self._note(found, content)}
        if content.files:
            files = self._files(found, content)
            tags[FILES_TAG] = json.dumps(files, separators=(",", ":"))[:MOST_IN_TAG]
        if content.inputs:
            tags[INPUTS_TAG] = self._inputs(found, content)
        self.door.set_info(found, content)
        points = content.points[self._sent.get(content.key, 0) :]
        params = {k: v for k, v in content.params.items() if k not in found.params}
        # The store writes tags after everything else, so a run that was cut short lacks the digest
        # and is written again.
        tags[DIGEST_TAG] = content.sha256
        self.door.log(found.id, points=points, params=params, tags=tags)
        self._sent[content.key] = len(content.points)
        self._count(metrics=len(points))
        return replace(
            found,
            name=content.name,
            status=content.status,
            tags={**found.tags, **tags},
            params={**found.params, **params},
        )

    def _inputs(self, found: Found, content: RunContent) -> str:
        """Log dataset inputs that are new; what the tag says of them then."""
        now = json.dumps([f"{data.name} {data.digest}" for data in content.inputs])
        if found.tags.get(INPUTS_TAG) != now:
            self.door.inputs(found.id, content.inputs)
            self._count(datasets=len(content.inputs))
        return now

    def _count(self, **added: int) -> None:
        with self._counting:
            for name, number in added.items():
                setattr(self.counts, name, getattr(self.counts, name) + number)

    def _files(self, found: Found, content: RunContent) -> dict[str, str]:
        """Upload what changed, remove what is gone; the hashes of what is there now."""
        there = _read(found.tags.get(FILES_TAG))
        now = content.file_hashes
        changed = {p: content.files[p] for p, digest in now.items() if there.get(p) != digest}
        self.door.put_files(found, changed)
        self.door.remove_files(found, sorted(set(there) - set(now)))
        self._count(artifacts=len(changed))
        return now

    def _note(self, found: Found, content: RunContent) -> dict[str, str]:
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
