"""Notes with their transcripts, read one after the other from a folder, CSV or JSON Lines.

What cannot be read is a row with its reason; nothing but a file that is not there, or has no note
column at all, is an error. Memory does not grow with the number of notes.

| column | needed | meaning |
|---|---|---|
| `note` (or `text`) | yes | the note |
| `transcript` | unless absent | what it is judged against |
| `id` (or `note_id`) | no | name of the note; `row 7` where left out |
| `consultation` (or `group`) | no | what shares the transcript; its hash where left out |

In a folder, `NAME.transcript.txt` belongs to `NAME.note.txt` and to every `NAME.note.*.txt`.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from heldout.experiments.practice.verdicts import own_note
from heldout.splits.benchmark import Note
from heldout.splits.errors import BadInput
from heldout.splits.hashing import content_id
from heldout.splits.loading.grouping import PLACEHOLDER
from heldout.splits.loading.rows import text_problem
from heldout.splits.loading.text_files import MAX_LINE_BYTES, suggestion

NAMES: Mapping[str, tuple[str, ...]] = {
    "note": ("note", "text"),
    "transcript": ("transcript",),
    "id": ("id", "note_id", "pair_id"),
    "consultation": ("consultation", "group", "consultation_id"),
}
TRANSCRIPT, NOTE = ".transcript.txt", ".note"
_ESCAPED = re.compile("[\udc80-\udcff]")
"""Where bytes that are not UTF-8 go when text is read with `surrogateescape`."""


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note to judge, or one that cannot be read and why; `number` counts from 1."""

    number: int
    id: str
    note: Note | None
    reason: str = ""


def read_rows(path: Path, *, transcripts: bool = True) -> Iterator[NoteRow]:
    """The notes of `path`, in its order. Without `transcripts` a placeholder stands in the slot.

    Raises BadInput for a path that cannot be opened, a header without a note column, another kind
    of file.
    """
    if path.is_dir():
        yield from _numbered(_folder(path), transcripts)
        return
    kind = path.with_suffix("") if path.suffix == ".gz" else path
    if kind.suffix not in (".csv", ".jsonl"):
        raise BadInput.one(
            str(path), "must be a folder, or end in .csv or .jsonl (or that and .gz)"
        )
    with _opened(path) as handle:
        cells = _csv(path, handle) if kind.suffix == ".csv" else _jsonl(handle)
        yield from _numbered(cells, transcripts)


@dataclass(frozen=True, slots=True)
class _Cells:
    """Values of one row by column, or what kept it from being read."""

    values: Mapping[str, Any]
    problem: str = ""


def _numbered(rows: Iterator[_Cells], transcripts: bool) -> Iterator[NoteRow]:
    for number, cells in enumerate(rows, start=1):
        yield _row(number, cells, transcripts)


def _row(number: int, cells: _Cells, transcripts: bool) -> NoteRow:
    named = _value(cells.values, "id")
    name = named.strip() if isinstance(named, str) and named.isprintable() else ""
    name = name or f"row {number}"
    if cells.problem:
        return NoteRow(number, name, None, cells.problem)
    texts = {}
    for field in ("transcript", "note") if transcripts else ("note",):
        text = _value(cells.values, field)
        if problem := _problem(text):
            return NoteRow(number, name, None, f"{field}: {problem}")
        texts[field] = str(text)
    transcript = texts.get("transcript", PLACEHOLDER)
    return NoteRow(number, name, _note(texts["note"], transcript, cells.values, transcripts))


def _note(text: str, transcript: str, values: Mapping[str, Any], transcripts: bool) -> Note:
    group = _value(values, "consultation")
    named = group if isinstance(group, str) and group.strip() else None
    if named is None and not transcripts:
        named = content_id("consultation", text)  # a placeholder is shared by strangers
    return own_note(text, transcript, named)


def _value(values: Mapping[str, Any], field: str) -> Any:
    return next((values[name] for name in NAMES[field] if values.get(name) is not None), None)


def _problem(text: Any) -> str | None:
    if text is None:
        return "is missing"
    if not isinstance(text, str):
        return "is no text"
    if not text.isascii() and _ESCAPED.search(text):
        return "is not UTF-8"
    return text_problem(text)


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    opening: Any = gzip.open if path.suffix == ".gz" else open
    try:
        handle = opening(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="")
    except OSError as error:
        raise BadInput.one(str(path), f"cannot be read ({error.strerror or error})") from error
    with handle:
        yield handle


def _csv(path: Path, handle: IO[str]) -> Iterator[_Cells]:
    reader = csv.reader(handle)
    # A transcript may exceed the module's 128 KiB a cell; its limit is one of the process.
    limit = csv.field_size_limit(MAX_LINE_BYTES)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        _check_header(path, header)
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except (csv.Error, OSError, EOFError) as error:
                yield _Cells({}, f"cannot be read: {error}")
                if not isinstance(error, csv.Error):
                    return
                continue
            if len(cells) == len(header):
                yield _Cells(dict(zip(header, cells, strict=True)))
            elif any(cell.strip() for cell in cells):
                yield _Cells({}, f"{len(cells)} cells under {len(header)} columns")
    finally:
        csv.field_size_limit(limit)


def _check_header(path: Path, header: list[str]) -> None:
    if not set(NAMES["note"]) & set(header):
        near = suggestion("note", header)
        raise BadInput.one(f"{path}:1", f"there is no column «note» or «text»{near}")


def _jsonl(handle: IO[str]) -> Iterator[_Cells]:
    lines = iter(handle)
    while True:
        try:
            line = next(lines)
        except StopIteration:
            return
        except (OSError, EOFError) as error:
            yield _Cells({}, f"cannot be read: {error}")
            return
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield _Cells({}, f"not JSON: {error}")
            continue
        yield _Cells(value) if isinstance(value, dict) else _Cells({}, "is no JSON object")


def _folder(path: Path) -> Iterator[_Cells]:
    files = sorted(file for file in path.rglob(f"*{NOTE}*.txt") if file.is_file())
    if not files:
        raise BadInput.one(str(path), "holds no NAME.note.txt with its NAME.transcript.txt")
    for file in files:
        stem = file.name.partition(NOTE)[0]
        name = file.relative_to(path).as_posix()
        transcript = _text(file.with_name(f"{stem}{TRANSCRIPT}"))
        group = file.with_name(stem).relative_to(path).as_posix()
        yield _Cells(
            {"id": name, "consultation": group, "note": _text(file), "transcript": transcript}
        )


def _text(file: Path) -> str | None:
    try:
        return file.read_text("utf-8-sig", "surrogateescape")
    except OSError:
        return None
