"""The generic table: any domain whose group holds clean notes and edited ones.

One row a note, as CSV (`.csv`, `.csv.gz`, a header line) or JSON Lines of the same names:

| column | needed | meaning |
|---|---|---|
| `group` | yes | what shares structure: a consultation, a source article; never split apart |
| `note_id` | yes | name of the note, unique in its group |
| `kind` | yes | `clean`, `omit-complete`, `omit-partial`, `add` or `change` |
| `text` | yes | the note |
| `transcript` | unless absent | what it is judged against; on one row of the group or on all |
| `stratum` | no | kind of group; the same on all its rows, `all` where left out |
| `twin` | no | `note_id` of the clean twin; needed where the group has several clean notes |
| `level` | for omit-partial | `partial-weak` or `partial-strong` |
| `severity` | no | `critical`, `supporting` or `peripheral` |
| `fact` | no | what was removed, added or altered |
| `source` | no | how the note was made |

An empty cell is an absent value. The group becomes the consultation `stratum|group`, an edited
note the pair `stratum|group|note_id`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

from heldout.splits.benchmark import NoteClass, Severity, TraceLevel
from heldout.splits.errors import BadInput
from heldout.splits.loading.fields import Fields
from heldout.splits.loading.json_records import Record
from heldout.splits.loading.pairs import PairRow, check_texts, read_trace
from heldout.splits.loading.text_files import (
    MAX_LINE_BYTES,
    Faults,
    InputFile,
    suggestion,
    whole_text,
)

NEEDED = ("group", "note_id", "kind", "text")
OPTIONAL = ("transcript", "stratum", "twin", "level", "severity", "fact", "source")


@dataclass(frozen=True, slots=True)
class CleanRow:
    """One clean note and the place it was read from."""

    where: str
    consultation: str
    stratum: str
    text: str


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """The transcript of a group as one row states it."""

    where: str
    consultation: str
    text: str


@dataclass(frozen=True, slots=True)
class GroupTable:
    """Everything valid in a table."""

    pairs: list[PairRow]
    clean: list[CleanRow]
    transcripts: list[TranscriptRow]


@dataclass(frozen=True, slots=True)
class _Row:
    fields: Fields
    consultation: str
    stratum: str
    note_id: str
    kind: NoteClass
    text: str


def csv_records(file: InputFile, faults: Faults) -> list[Record]:
    """One record a row, empty cells left out; `where` names the line a row starts at."""
    reader = csv.reader(io.StringIO(whole_text(file), newline=""), strict=True)
    records: list[Record] = []
    line = 1
    # A transcript may exceed the module's 128 KiB a cell; its limit is one of the process.
    limit = csv.field_size_limit(MAX_LINE_BYTES)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(f"{file.path}:1", header)
        line = reader.line_num + 1
        for cells in reader:
            where, line = f"{file.path}:{line}", reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                faults.add(where, f"{len(cells)} cells under {len(header)} columns")
                continue
            value = {k: cell for k, cell in zip(header, cells, strict=True) if cell.strip()}
            records.append(Record(where, value))
    except csv.Error as error:
        raise BadInput.one(f"{file.path}:{line}", f"not CSV: {error}") from None
    finally:
        csv.field_size_limit(limit)
    if not records and not faults.found:
        raise BadInput.one(str(file.path), "the table has a header and no row")
    return records


def read_table(records: Iterable[Record], faults: Faults) -> GroupTable:
    """Every valid note of `records`; what is wrong with the others is noted."""
    table = GroupTable([], [], [])
    records = list(records)
    _check_names(records, faults)
    groups: dict[str, dict[str, _Row]] = {}
    strata: dict[str, str] = {}
    for record in records:
        row = _row(Fields(record, faults))
        if row is None:
            continue
        group = row.consultation.split("|", 1)[1]
        if strata.setdefault(group, row.stratum) != row.stratum:
            row.fields.fault("stratum", f"group {group!r} stands under {strata[group]!r} too")
        rows = groups.setdefault(row.consultation, {})
        if row.note_id in rows:
            first = rows[row.note_id].fields.record.where
            row.fields.fault("note_id", f"{row.note_id!r} stands already at {first}")
            continue
        rows[row.note_id] = row
        if transcript := row.fields.text("transcript", optional=True):
            place = row.fields.record.where
            table.transcripts.append(TranscriptRow(place, row.consultation, transcript))
    for rows in groups.values():
        _read_group(rows, table)
    return table


def _check_header(where: str, header: list[str]) -> None:
    faults = Faults()
    for name in sorted({name for name in header if header.count(name) > 1}):
        faults.add(where, f"column «{name}» stands twice")
    for name in NEEDED:
        if name not in header:
            faults.add(where, f"column «{name}» is missing; needed: {', '.join(NEEDED)}")
    faults.raise_any()


def _check_names(records: list[Record], faults: Faults) -> None:
    # A misspelt optional column would be left out in silence.
    first: dict[str, str] = {}
    for record in records:
        for name in record.value:
            first.setdefault(name, record.where)
    absent = [name for name in OPTIONAL if name not in first]
    for name, where in first.items():
        if name not in NEEDED + OPTIONAL and (near := suggestion(name, absent, cutoff=0.8)):
            faults.add(where, f"column «{name}» is not known{near}")


def _row(fields: Fields) -> _Row | None:
    before = len(fields.faults.found)
    group, note_id = fields.name("group"), fields.name("note_id")
    stratum = fields.name("stratum", optional=True, bar=False) or "all"
    kind, text = fields.choice("kind", tuple(NoteClass)), fields.text("text")
    if len(fields.faults.found) > before or kind is None or text is None:
        return None
    return _Row(fields, f"{stratum}|{group}", stratum, str(note_id), kind, text)


def _read_group(rows: dict[str, _Row], table: GroupTable) -> None:
    clean = {name: row for name, row in rows.items() if row.kind is NoteClass.CLEAN}
    for row in clean.values():
        where = row.fields.record.where
        table.clean.append(CleanRow(where, row.consultation, row.stratum, row.text))
    for row in rows.values():
        if row.kind is not NoteClass.CLEAN and (twin := _twin(row, clean)) is not None:
            pair = _pair(row, twin.text)
            table.pairs.extend([] if pair is None else [pair])


def _twin(row: _Row, clean: dict[str, _Row]) -> _Row | None:
    name = row.fields.name("twin", optional=True)
    if name is None and len(clean) == 1:
        return next(iter(clean.values()))
    if name is None:
        message = (
            "the group has no clean note"
            if not clean
            else (f"missing; the group has {len(clean)} clean notes: {', '.join(clean)}")
        )
        row.fields.fault("twin", message)
    elif name not in clean:
        row.fields.fault("twin", f"no clean note {name!r} in group {row.consultation!r}")
    return clean.get(name) if name else None


def _pair(row: _Row, clean: str) -> PairRow | None:
    fields, before = row.fields, len(row.fields.faults.found)
    trace = _trace(row)
    severity = fields.choice("severity", tuple(Severity), optional=True)
    fact, source = fields.text("fact", optional=True), fields.text("source", optional=True)
    check_texts(fields, "text", clean, row.text)
    if len(fields.faults.found) > before:
        return None
    return PairRow(
        where=fields.record.where,
        consultation=row.consultation,
        stratum=row.stratum,
        pair_id=f"{row.consultation}|{row.note_id}",
        note_class=row.kind,
        trace=trace,
        severity=severity,
        clean=clean,
        errored=row.text,
        fact=fact,
        residual=(),
        source=source or "",
    )


def _trace(row: _Row) -> TraceLevel | None:
    # A complete removal has one possible level, so the column may stay empty.
    if row.kind is NoteClass.OMIT_COMPLETE and row.fields.record.value.get("level") is None:
        return TraceLevel.COMPLETE
    return read_trace(row.fields, "level", row.kind)
