"""`heldout store`: list, export and import calls, and check a run's store against its journal."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.config_file import load_config
from heldout.experiments.campaigns.run_directory import existing_run
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput
from heldout.students.calls.database import shown_url
from heldout.students.calls.store_rows import StoredCall
from heldout.students.calls.transfer import export_lines, import_lines, read_rows, write_rows

Json = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """Where calls are: the address of a store, and one run in it or all."""

    url: str
    run_id: str | None = None

    @property
    def shown(self) -> str:
        """The address without a password."""
        return shown_url(self.url)


def source_of(store: str, run_id: str | None = None) -> Source:
    """The store that a person means: a run directory, an SQLite file, or an address.

    Raises BadInput where there is none.
    """
    path = Path(store)
    if "://" in store:
        return Source(store, run_id)
    if path.is_dir():
        run = existing_run(path)
        url = load_config(run.config, stored=True).store.url or f"sqlite:///{run.store}"
        return Source(url, run_id or Run.at(run.path).run_id)
    if not path.is_file():
        raise BadInput.one(store, "is no run directory, no store file and no address of a store")
    return Source(f"sqlite:///{path.resolve()}", run_id)


def list_calls(source: Source, *, stage: str | None = None, details: bool = False) -> Json:
    """What a store holds, by run, stage and model; with `details` every call without its text."""
    groups: Counter[tuple[str, str, str]] = Counter()
    tokens: Counter[tuple[str, str, str]] = Counter()
    unpriced: set[tuple[str, str, str]] = set()
    usd: defaultdict[tuple[str, str, str], float] = defaultdict(float)
    calls = []
    for row in read_rows(source.url, source.run_id, stage):
        group = (row.run_id, row.stage, row.model)
        groups[group] += 1
        tokens[group] += row.prompt_tokens + row.completion_tokens
        if row.usd is None:
            unpriced.add(group)
        else:
            usd[group] += row.usd
        if details:
            calls.append(_without_text(row))
    found: Json = {
        "store": source.shown,
        "groups": [
            {
                "run_id": group[0],
                "stage": group[1],
                "model": group[2],
                "calls": count,
                "tokens": tokens[group],
                "usd": None if group in unpriced else usd[group],
            }
            for group, count in groups.items()
        ],
    }
    return {**found, "calls": calls} if details else found


def list_text(found: Json) -> str:
    """The list for a person."""
    lines = [f"{found['store']}: {sum(g['calls'] for g in found['groups'])} calls"]
    for group in found["groups"]:
        usd = "unknown price" if group["usd"] is None else f"USD {group['usd']:.4f}"
        lines.append(
            f"{group['run_id']} · {group['stage']} · {group['model']}: {group['calls']} calls, "
            f"{group['tokens']} tokens, {usd}"
        )
    lines += [
        f"{call['key'][:12]} {call['stage']} {call['item']} sample {call['sample']} "
        f"attempt {call['attempt']} {call['finish']} {call['completion_tokens']} tokens"
        for call in found.get("calls", ())
    ]
    return "\n".join(lines)


def export_calls(source: Source, out: Path) -> Json:
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


def _without_text(row: StoredCall) -> Json:
    hidden = {"text", "reasoning", "raw", "messages"}
    return {name: value for name, value in row.values.items() if name not in hidden}
