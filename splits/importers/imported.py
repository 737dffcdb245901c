"""What an importer yields, and how it is written."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heldout.splits.errors import BadInput
from heldout.splits.loading.group_tables import NEEDED, OPTIONAL

COLUMNS = (*NEEDED, *OPTIONAL)
SUFFIXES = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class TableNote:
    """One note of the generic table (`splits.loading.group_tables`); None is an empty cell."""

    group: str
    note_id: str
    kind: str
    text: str
    transcript: str | None = None
    stratum: str | None = None
    twin: str | None = None
    level: str | None = None
    severity: str | None = None
    fact: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class Imported:
    """The notes of a release.

    `transcripts` is False where the release has none: such a benchmark is declared with
    `benchmark.transcript: absent`. `notices` name what was left out and why.
    """

    notes: tuple[TableNote, ...]
    transcripts: bool = True
    notices: tuple[str, ...] = ()


def write_table(imported: Imported, out: Path) -> None:
    """Write the notes as CSV or JSON Lines, as the name of `out` says; the same bytes each time.

    Raises BadInput for another suffix or where `out` exists.
    """
    if not out.name.endswith(SUFFIXES):
        raise BadInput.one(str(out), f"its name must end in one of {', '.join(SUFFIXES)}")
    rows = [asdict(note) for note in imported.notes]
    if ".csv" in out.suffixes:
        write_new(out, _as_csv(rows))
    else:
        write_new(out, as_jsonl({k: v for k, v in row.items() if v is not None} for row in rows))


def as_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """One object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_new(out: Path, text: str) -> None:
    """Write a file that must not exist, compressed if its name ends in `.gz`. Raises BadInput."""
    if out.exists():
        raise BadInput.one(str(out), "already exists")
    content = text.encode("utf-8", "surrogatepass")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(gzip.compress(content, mtime=0) if out.suffix == ".gz" else content)
    except OSError as error:
        raise BadInput.one(str(out), f"cannot be written ({error.strerror})") from error


def _as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    used = [name for name in COLUMNS if any(row[name] is not None for row in rows)]
    text = io.StringIO()
    writer = csv.DictWriter(text, used, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if v is None else v for k, v in row.items()} for row in rows)
    return text.getvalue()
