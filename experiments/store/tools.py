"""`heldout store`: list, export and import calls, and check a run's store against its journal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import existing_run
from heldout.gepa.record.codec import plain
from heldout.gepa.record.run import Run
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput
from heldout.students.calls.database import shown_url
from heldout.students.calls.store_rows import StoredCall
from heldout.students.calls.transfer import export_lines, import_lines, read_rows, write_rows

Json = dict[str, Any]

TEXTS = frozenset({"text", "reasoning", "raw", "messages"})
"""Columns that may quote notes."""


@dataclass(frozen=True)
class CallSource:
    """Where calls are: the address of a store, and one run in it or all."""

    url: str
    run_id: str | None = None

    @property
    def shown(self) -> str:
        """The address without a password."""
        return shown_url(self.url)


@dataclass
class CallGroup:
    """The calls of one run, stage and model; `usd` None once a price was unknown."""

    run_id: str
    stage: str
    model: str
    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0

    def add(self, call: StoredCall) -> None:
        """Count one call."""
        usd = call.reply.usd
        self.calls += 1
        self.tokens += call.reply.usage.total
        self.usd = None if self.usd is None or usd is None else self.usd + usd


@dataclass(frozen=True)
class CallList:
    """What a store holds; `rows` are single calls, None unless asked for."""

    store: str
    groups: tuple[CallGroup, ...]
    rows: tuple[StoredCall, ...] | None

    def to_json(self) -> Json:
        """`{store, groups, calls}`, calls only where they were asked for."""
        found: Json = {"store": self.store, "groups": plain(self.groups)}
        return found if self.rows is None else {**found, "calls": [*map(_without_texts, self.rows)]}

    @property
    def text(self) -> str:
        """For a person."""
        lines = [f"{self.store}: {counted(sum(group.calls for group in self.groups), 'call')}"]
        for group in self.groups:
            usd = "unknown price" if group.usd is None else f"USD {group.usd:.4f}"
            lines.append(
                f"{group.run_id} · {group.stage} · {group.model}: {counted(group.calls, 'call')}, "
                f"{counted(group.tokens, 'token')}, {usd}"
            )
        for row in self.rows or ():
            lines.append(
                f"{row.key:.12} {row.stage} {row.item} sample {row.sample} attempt {row.attempt} "
                f"{row.finish} {counted(row.completion_tokens, 'token')}"
            )
        return "\n".join(lines)


def source_of(store: str, run_id: str | None = None) -> CallSource:
    """The store that a person means: a run directory, an SQLite file, or an address.

    Raises BadInput where there is none.
    """
    path = Path(store)
    if "://" in store:
        return CallSource(store, run_id)
    if path.is_dir():
        run = existing_run(path)
        url = load_config(run.config, stored=True).store.url or f"sqlite:///{run.store}"
        return CallSource(url, run_id or Run.at(run.path).run_id)
    if not path.is_file():
        raise BadInput.one(store, "is no run directory, no store file and no address of a store")
    return CallSource(f"sqlite:///{path.resolve()}", run_id)


def list_calls(source: CallSource, *, stage: str | None = None, details: bool = False) -> CallList:
    """What a store holds, by run, stage and model; with `details` every call without its text."""
    groups: dict[tuple[str, str, str], CallGroup] = {}
    rows = []
    for call in read_rows(source.url, source.run_id, stage):
        key = (call.run_id, call.stage, call.model)
        groups.setdefault(key, CallGroup(*key)).add(call)
        if details:
            rows.append(call)
    return CallList(source.shown, tuple(groups.values()), tuple(rows) if details else None)


def export_calls(source: CallSource, out: Path) -> Json:
    """Write a store's calls as JSON lines (.gz compresses). Raises BadInput if `out` is there."""
    if out.exists():
        raise BadInput.one(str(out), "already exists; give another name")
    count = export_lines(read_rows(source.url, source.run_id), out)
    return {"store": source.shown, "file": str(out.resolve()), "calls": count}


def import_calls(file: Path, url: str, *, run_id: str | None = None) -> Json:
    """Add the calls of an export to the store at `url`, under their own runs or under `run_id`.

    Calls the store has already stay as they are. Under another run's name they count as bought by
    the run that bought them. Raises BadInput with every bad line, and then nothing is added.
    """
    rows = import_lines(file)
    if run_id is not None:
        rows = [replace(row, run_id=run_id, origin=row.origin or row.run_id) for row in rows]
    return {"store": shown_url(url), "calls": len(rows), "added": write_rows(url, rows)}


def _without_texts(call: StoredCall) -> Json:
    """The call without its texts."""
    return {name: value for name, value in call.values.items() if name not in TEXTS}
