"""What `verify` asks of the files of a run: that they are what the journal says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

from heldout.experiments.report.pages import PAGES
from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import config_digest, load_config
from heldout.experiments.runs.run_data import data_of
from heldout.experiments.runs.run_directory import FAMILY_FILE, RunDirectory, read_family
from heldout.gepa.record.codec import plain
from heldout.gepa.record.events import NoteEntry
from heldout.gepa.record.remarks import CallsEvent
from heldout.gepa.record.run import Run
from heldout.splits.counted import counted
from heldout.splits.hashing import sha256_file
from heldout.splits.partition.draw import verify
from heldout.splits.partition.manifest import Partition, read_manifest
from heldout.students.calls.database import shown_url
from heldout.students.calls.store_rows import StoredCall, replies_sha256
from heldout.students.calls.transfer import read_rows, row_fault


@dataclass(frozen=True)
class Told:
    """A line of what was found; `is_fault` False for what is to be known only."""

    line: str
    is_fault: bool = True

    def __str__(self) -> str:
        return self.line


@dataclass(frozen=True)
class Examined:
    """A run that is being verified: its files, each read once, and what its journal says."""

    run: RunDirectory
    so_far: Run

    @cached_property
    def config(self) -> Config:
        """The configuration. Raises BadInput."""
        return load_config(self.run.config, stored=True)

    @property
    def manifest(self) -> Path:
        """Where the manifest lies. Raises BadInput."""
        return self.config.partition.manifest or self.run.manifest

    @cached_property
    def partition(self) -> Partition:
        """The partition in the manifest. Raises BadInput."""
        return read_manifest(self.manifest)


def config(examined: Examined) -> Iterator[Told]:
    """The configuration can be read and is the one that the run was begun with."""
    path, so_far = examined.run.config, examined.so_far
    if so_far.has_begun and config_digest(path) != so_far.opened.config_sha256:
        yield Told(f"{path}: was edited after the run began")
    load_config(path, stored=True)


def manifest(examined: Examined) -> Iterator[Told]:
    """The manifest is whole and the one that the run verified."""
    event, path = examined.so_far.partition, examined.manifest
    if event is None:
        return
    if not path.exists():
        yield Told(f"{path}: is missing, and with it the partition")
        return
    partition = examined.partition
    if partition.recorded != partition.sha256:
        yield Told(f"{path}: was edited after it was frozen (its sha256 does not fit its content)")
    if partition.sha256 != event.manifest_sha256:
        yield Told(f"{path}: is another partition than the run's")
    digests = {name: split.digest for name, split in event.splits.items()}
    if (digests, event.planned_looks) != (partition.split_sha256, partition.planned_looks):
        yield Told(f"{path}: has other splits or looks than the journal says")


def benchmark(examined: Examined) -> Iterator[Told]:
    """The data are those of the manifest, and have the labels that the journal gives them."""
    run, event, path = examined.run, examined.so_far.partition, examined.manifest
    if event is None or not path.exists():
        return
    data = data_of(examined.config, run)
    if not data.source.pairs.exists() and run.benchmark not in data.source.pairs.parents:
        yield Told(f"{data.source.pairs}: is not there, and was not checked", is_fault=False)
        return
    loaded, partition = data.load(), examined.partition
    verify(partition, loaded.benchmark, files=loaded.files, exclude=data.exclude, where=str(path))
    if loaded.benchmark.digest != event.benchmark.digest:
        yield Told(f"{data.source.pairs}: is another benchmark than the run's")
    splits = {id_: name for name, ids in partition.splits.items() for id_ in ids}
    labels = {
        note.id: NoteEntry.of(note.label, splits[consultation.id])
        for consultation in loaded.benchmark
        if consultation.id in splits
        for note in consultation.notes
    }
    if labels != dict(event.labels):
        yield Told(f"{run.journal}: gives notes other labels than the benchmark")


def calls(examined: Examined) -> Iterator[Told]:
    """The store holds the calls that the journal settled, none changed, each with its reply."""
    run, so_far = examined.run, examined.so_far
    settled = sum(evaluation.spent.calls for evaluation in so_far.evaluations)
    if not settled:
        return
    named = examined.config.store.url
    url = named or f"sqlite:///{run.store}"
    if named is None and not run.store.is_file():
        yield Told(f"{run.store}: is missing, and with it the calls behind every score")
        return
    rows = list(read_rows(url, so_far.opened.run_id))
    where = shown_url(url) if named else str(run.store)
    if len(rows) < settled:
        yield Told(f"{where}: holds {counted(len(rows), 'call')}, the journal settled {settled}")
    for row in rows:
        if said := row_fault(row):
            yield Told(f"{where}: stored call {row.key}: {said}")
    yield from (Told(f"{where}: {x.line}", x.is_fault) for x in _replies(so_far, rows))


def _replies(so_far: Run, rows: list[StoredCall]) -> Iterator[Told]:
    """The replies are those that the journal noted when the newest session ended."""
    noted = so_far.newest(CallsEvent)
    if noted is None or noted.stored is None:
        yield Told("what it holds was not recorded when the session ended", is_fault=False)
        return
    if replies_sha256(islice(rows, noted.stored)) != noted.stored_sha256:
        yield Told(
            "its calls or replies are not those that the journal noted; "
            "heldout store check names the first event that they do not give"
        )
    more = len(rows) - noted.stored
    if more > 0 and so_far.finished is not None:
        yield Told(f"holds more calls than the {noted.stored} that the journal noted")


def gate(examined: Examined) -> Iterator[Told]:
    """`gate.json` says what the journal says, and is there only after a decision."""
    run, so_far = examined.run, examined.so_far
    if so_far.gate is None:
        if run.gate.exists():
            yield Told(f"{run.gate}: stands there although nothing was decided")
        return
    try:
        written = json.loads(run.gate.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        yield Told(f"{run.gate}: cannot be read ({error})")
        return
    if _without_nulls(written) != _without_nulls(plain(so_far.gate)):
        yield Told(f"{run.gate}: says something else than the journal")


def _without_nulls(said: Any) -> Any:
    """Versions differ in whether they write a key that has no value."""
    if isinstance(said, list):
        return [_without_nulls(value) for value in said]
    if not isinstance(said, dict):
        return said
    return {key: _without_nulls(value) for key, value in said.items() if value is not None}


def emission(examined: Examined) -> Iterator[Told]:
    """Prompt and card have the hashes of the journal; nothing else stands beside them."""
    run, so_far = examined.run, examined.so_far
    said = so_far.emission
    hashes = (
        {}
        if said is None
        else {
            run.path / said.prompt_file: said.prompt_sha256,
            run.path / said.card_file: said.card_sha256,
        }
    )
    for path, digest in hashes.items():
        if not path.is_file():
            yield Told(f"{path}: is missing")
        elif sha256_file(path) != digest:
            yield Told(f"{path}: was changed after it was emitted")
    folder = run.path / "prompts"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path not in hashes:
            yield Told(f"{path}: stands there although the journal did not emit it")


def family(examined: Examined) -> Iterator[Told]:
    """The file of a family declares this run, under the name that the run knows."""
    run, so_far = examined.run, examined.so_far
    if run.shared is None or not so_far.has_begun:
        return
    path, declared = run.shared / FAMILY_FILE, so_far.opened.family
    said = read_family(run.shared)
    if run.path.name not in said.members:
        yield Told(f"{path}: does not name {run.path.name}")
    if declared is None or said.id != declared.id:
        yield Told(f"{path}: is another family than the run's")
    elif len(said.members) != len(declared.targets):
        yield Told(f"{path}: has other members than were declared together")


def pages(examined: Examined) -> Iterator[Told]:
    """Report and lineage have the bytes that the journal noted when they were written."""
    run, so_far = examined.run, examined.so_far
    if not so_far.rendered:
        there = [name for name in PAGES if (run.path / name).exists()]
        if there:
            told = f"{run.path}: {', '.join(there)}: not recorded when written, so not checked"
            yield Told(told, is_fault=False)
        return
    *before, newest = so_far.rendered
    for name, digest in newest.pages.items():
        path = run.path / name
        if not path.is_file():
            yield Told(f"{path}: is missing; heldout report writes it anew")
            continue
        found = sha256_file(path)
        older = [note for note in before if note.pages.get(name) == found]
        if found == digest:
            if newest.version != metadata.version("heldout"):
                yield Told(f"{path}: older, written by {newest.version}", is_fault=False)
        elif older:
            told = f"{path}: older than the newest report, written by {older[-1].version}"
            yield Told(told, is_fault=False)
        else:
            yield Told(f"{path}: was changed after it was written")
