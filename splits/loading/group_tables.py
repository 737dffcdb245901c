"""The generic table: any domain whose group holds clean notes and edited ones.

One row a note, in any table that `tables` reads (CSV, a workbook, parquet, JSON Lines):

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

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo, field_validator

from heldout.splits.benchmark import NoteClass, Severity, TraceLevel
from heldout.splits.loading.columns import Wanted
from heldout.splits.loading.ids import id_or_none
from heldout.splits.loading.pairs import PairRow, check_level, same_text
from heldout.splits.loading.records import Record
from heldout.splits.loading.rows import Id, Row, Stratum, Text, read_row
from heldout.splits.loading.text_files import Faults, suggestion
from heldout.splits.loading.transcripts import Transcript

NEEDED = ("group", "note_id", "kind", "text")
OPTIONAL = ("transcript", "stratum", "twin", "level", "severity", "fact", "source")
WANTED = Wanted.of((*NEEDED, *OPTIONAL), NEEDED, ("group", "note_id", "kind"))


@dataclass(frozen=True, slots=True)
class CleanRow:
    """One clean note."""

    consultation: str
    text: str


@dataclass(frozen=True, slots=True)
class GroupTable:
    """Everything valid in a file; pairs alone where it is no table. `transcripts` by name."""

    pairs: list[PairRow]
    clean: list[CleanRow] = field(default_factory=list)
    transcripts: dict[str, Transcript] = field(default_factory=dict)


def _or_all(stratum: Any) -> Any:
    return "all" if stratum is None else stratum


class _Clean(Row):
    """What a row has that is a clean note; the other columns mean nothing there."""

    group: Id
    note_id: Id
    kind: NoteClass
    text: Text
    transcript: Text | None = None
    stratum: Annotated[Stratum, BeforeValidator(_or_all)] = "all"

    @property
    def consultation(self) -> str:
        return f"{self.stratum}|{self.group}"


class _Edited(_Clean):
    twin: Id | None = None
    level: TraceLevel | None = None
    severity: Severity | None = None
    fact: Text | None = None
    source: Text | None = None

    @field_validator("level")
    @classmethod
    def _fits(cls, level: TraceLevel | None, info: ValidationInfo) -> TraceLevel | None:
        if level is not None and "kind" in info.data:
            check_level(level, info.data["kind"])
        return level


class _Partial(_Edited):
    """A complete removal has one possible level, a partial one must state its own."""

    level: TraceLevel


_Placed = tuple[Record, _Clean]


def read_groups(records: Iterable[Record], faults: Faults) -> GroupTable:
    """Every valid note of `records`; what is wrong with the others is noted."""
    table = GroupTable([])
    records = list(records)
    _check_names(records, faults)
    groups: dict[str, dict[str, _Placed]] = {}
    strata: dict[str, str] = {}
    damaged: set[str] = set()
    for record in records:
        row = read_row(_model_of(record), record, faults)
        if row is None:
            damaged.add(str(id_or_none(record.value.get("group"))))
            continue
        if (stratum := strata.setdefault(row.group, row.stratum)) != row.stratum:
            message = f"stratum: group {row.group!r} stands under {stratum!r} too"
            faults.add(record.where, message)
        rows = groups.setdefault(row.consultation, {})
        if row.note_id in rows:
            first = rows[row.note_id][0].where
            faults.add(record.where, f"note_id: {row.note_id!r} stands already at {first}")
            continue
        rows[row.note_id] = record, row
        if row.transcript is not None:
            transcript = Transcript(record.where, row.transcript)
            known = table.transcripts.setdefault(row.consultation, transcript)
            if known.text != row.transcript:
                message = f"transcript: differs from that of the group at {known.where}"
                faults.add(record.where, message)
    for rows in groups.values():
        _read_group(rows, table, damaged, faults)
    return table


def _model_of(record: Record) -> type[_Clean]:
    kind = record.value.get("kind")
    if kind == NoteClass.OMIT_PARTIAL:
        return _Partial
    return _Clean if kind == NoteClass.CLEAN else _Edited


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


def _read_group(
    rows: dict[str, _Placed], table: GroupTable, damaged: set[str], faults: Faults
) -> None:
    clean = {name: row.text for name, (_, row) in rows.items() if row.kind is NoteClass.CLEAN}
    for record, row in rows.values():
        if not isinstance(row, _Edited):
            table.clean.append(CleanRow(row.consultation, row.text))
            continue
        try:
            twin = _twin(row, clean)
        except ValueError as error:
            # Of a faulty row it is not known which note it would have been, perhaps this twin.
            if row.group not in damaged:
                faults.add(record.where, f"twin: {error}")
            continue
        if problem := same_text(twin, row.text):
            faults.add(record.where, f"text: {problem}")
        else:
            table.pairs.append(_pair(row, record.where, twin))


def _twin(row: _Edited, clean: dict[str, str]) -> str:
    """The text of the row's clean twin. Raises ValueError where it has none."""
    if row.twin is None and len(clean) == 1:
        return next(iter(clean.values()))
    if not clean:
        raise ValueError("the group has no clean note")
    if row.twin is None:
        names = ", ".join(clean)
        raise ValueError(f"missing; the group has {len(clean)} clean notes: {names}")
    if row.twin not in clean:
        raise ValueError(f"no clean note {row.twin!r} in group {row.consultation!r}")
    return clean[row.twin]


def _pair(row: _Edited, where: str, clean: str) -> PairRow:
    return PairRow(
        where=where,
        consultation=row.consultation,
        pair_id=f"{row.consultation}|{row.note_id}",
        note_class=row.kind,
        trace=TraceLevel.COMPLETE if row.kind is NoteClass.OMIT_COMPLETE else row.level,
        severity=row.severity,
        clean=clean,
        errored=row.text,
        fact=row.fact,
        residual=(),
        source=row.source or "",
    )
