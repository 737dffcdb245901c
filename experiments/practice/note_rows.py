"""Notes with their transcripts, read one after the other from a folder or a table.

What cannot be judged is a row with its reason; a file that is no table of notes is an error. A
table's form is checked whole before its first note is given out (`splits.loading.tables`); its
bytes are kept, its notes are not.

| column | needed | meaning |
|---|---|---|
| `note` (or `text`) | yes | the note |
| `transcript` | unless absent | what it is judged against |
| `id` (or `note_id`) | no | name of the note; `row 7` where left out |
| `consultation` (or `group`) | no | what shares the transcript; its hash where left out |

In a folder, `NAME.transcript.txt` (or `.vtt`, `.srt`, `.json`) belongs to `NAME.note.txt` and to
every `NAME.note.*.txt`. Notes without a transcript of their own take that of their consultation,
or the one with their id, from other files: `transcript_sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.experiments.practice.transcript_sources import (
    TRANSCRIPT,
    Spoken,
    transcripts_by_name,
)
from heldout.experiments.practice.verdicts import own_note
from heldout.splits.benchmark import Note
from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import content_id
from heldout.splits.loading.captions import read_transcript
from heldout.splits.loading.columns import TableOptions, Wanted
from heldout.splits.loading.grouping import PLACEHOLDER
from heldout.splits.loading.ids import id_or_none, id_text, same_id
from heldout.splits.loading.records import BadRow, type_name
from heldout.splits.loading.rows import text_problem
from heldout.splits.loading.tables import open_table
from heldout.splits.loading.text_files import read_input
from heldout.splits.loading.transcripts import transcript_file

NAMES: Mapping[str, tuple[str, ...]] = {
    "note": ("note", "text"),
    "transcript": ("transcript",),
    "id": ("pair_id", "id", "note_id"),
    "consultation": ("consultation", "group", "consultation_id"),
}
IDS = ("id", "consultation")
NOTE = ".note"


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A file or folder of notes.

    `consultations` is a file or folder of transcripts; `transcripts` False: the notes have none.
    `table` is what is said about the form of the tables.
    """

    path: Path
    consultations: Path | None = None
    transcripts: bool = True
    table: TableOptions = field(default_factory=TableOptions)


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note to judge, or one that cannot be judged and why; `number` counts from 1."""

    number: int
    id: str
    where: str
    note: Note | None
    reason: str = ""


@dataclass(frozen=True)
class OpenNotes:
    """Notes to be read as often as wanted; `notices` say how a file was read that is not plain."""

    rows: Callable[[], Iterator[NoteRow]]
    notices: tuple[str, ...] = ()


def open_notes(file: NoteFile) -> OpenNotes:
    """The notes of `file`, in its order; without transcripts a placeholder stands in the slot.

    Raises BadInput for a path that cannot be read, a table whose form is wrong, and where not one
    note can be judged.
    """
    spoken = Spoken()
    if file.consultations is not None:
        if not file.transcripts:
            raise BadInput.one("--consultations", "is given, but the notes have no transcripts")
        spoken = transcripts_by_name(file.consultations, file.table)
    found = _folder(file) if file.path.is_dir() else _table(file)

    def rows() -> Iterator[NoteRow]:
        reader = _Reader(file, spoken)
        return (reader.row(number, one) for number, one in enumerate(found.cells(), start=1))

    notes = OpenNotes(rows, (*found.notices, *spoken.notices))
    faults = []
    for row in notes.rows():
        if row.note is not None:
            return notes
        faults.append(Fault(row.where, row.reason))
    raise BadInput(faults)


@dataclass(frozen=True, slots=True)
class _Cells:
    """Values of one row by column, or what kept it from being read."""

    where: str
    values: Mapping[str, Any]
    problem: str = ""


@dataclass(frozen=True)
class _Source:
    """Rows to be read as often as wanted."""

    cells: Callable[[], Iterator[_Cells]]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Reader:
    """Makes notes of rows; `groups` are names for transcripts that are the same text."""

    file: NoteFile
    spoken: Spoken
    groups: dict[str, str] = field(default_factory=dict)

    def row(self, number: int, cells: _Cells) -> NoteRow:
        """The note of one row, or why there is none."""
        name = id_or_none(cells.values.get("id")) or ""
        name = name if name.isprintable() and name else f"row {number}"
        try:
            if cells.problem:
                raise ValueError(cells.problem)
            note = self._note(cells.values)
        except ValueError as error:
            return NoteRow(number, name, cells.where, None, str(error))
        return NoteRow(number, name, cells.where, note)

    def _note(self, values: Mapping[str, Any]) -> Note:
        """Raises ValueError for values that are no note."""
        ident, group = _id(values, "id"), _id(values, "consultation")
        transcript = PLACEHOLDER
        if self.file.transcripts:
            transcript = _sound("transcript", self._transcript(values, ident, group))
        text = _sound("note", values.get("note"))
        if not group and not self.file.transcripts:
            group = content_id("consultation", text)  # a placeholder is shared by strangers
        if not group:
            # The first spelling of a transcript names all that differ in line ends or composition.
            group = content_id("consultation", transcript)
            group = self.groups.setdefault(content_id("same", same_id(transcript)), group)
        return own_note(text, transcript, group)

    def _transcript(self, values: Mapping[str, Any], ident: str, group: str) -> Any:
        own = values.get("transcript")
        if self.file.consultations is None or (own is not None and str(own).strip()):
            return own
        names = [name for name in (group, f"{values.get('stratum')}|{group}", ident) if name]
        try:
            found = self.spoken.of(names)
        except BadInput as error:
            raise ValueError(f"transcript: {error.faults[0]}") from None
        if found is None:
            wanted = " or ".join(f"«{name}»" for name in (group, ident) if name) or "a note"
            raise ValueError(f"transcript: {self.file.consultations} has none for {wanted}")
        return found


def _table(file: NoteFile) -> _Source:
    needs = ("note", "transcript") if file.transcripts and file.consultations is None else ("note",)
    columns = file.table if file.consultations is None else _without_theirs(file.table)
    table = open_table(read_input(file.path), Wanted(NAMES, needs, IDS), columns)

    def cells() -> Iterator[_Cells]:
        for row in table.rows():
            if isinstance(row, BadRow):
                yield _Cells(row.where, {}, "; ".join(row.problems))
            else:
                yield _Cells(row.where, row.value)

    return _Source(cells, table.notices)


def _folder(file: NoteFile) -> _Source:
    path = file.path
    files = sorted(found for found in path.rglob(f"*{NOTE}*.txt") if found.is_file())
    if not files:
        raise BadInput.one(str(path), "holds no NAME.note.txt with its NAME.transcript.txt")

    def cells() -> Iterator[_Cells]:
        for note in files:
            stem = note.name.partition(NOTE)[0]
            values = {
                "id": note.relative_to(path).as_posix(),
                "consultation": note.with_name(stem).relative_to(path).as_posix(),
            }
            try:
                if beside := transcript_file(note.parent, f"{stem}{TRANSCRIPT}"):
                    values["transcript"] = read_transcript(beside, file.table.encoding)
                values["note"] = read_transcript(note, file.table.encoding)
            except BadInput as error:
                field = "transcript" if "transcript" not in values and beside else "note"
                yield _Cells(str(note), values, f"{field}: {error.faults[0].message}")
            else:
                yield _Cells(str(note), values)

    return _Source(cells)


def _id(values: Mapping[str, Any], field: str) -> str:
    """An id, or nothing. Raises ValueError for a value that cannot be one."""
    value = values.get(field)
    try:
        return "" if value is None else id_text(value)
    except ValueError as error:
        raise ValueError(f"{field}: {error}, not {type_name(value)}") from None


def _sound(field: str, text: Any) -> str:
    """`text`, if it can be judged. Raises ValueError."""
    if text is None:
        raise ValueError(f"{field}: is missing")
    if not isinstance(text, str):
        raise ValueError(f"{field}: is no text")
    if problem := text_problem(text):
        raise ValueError(f"{field}: {problem}")
    return text


def _without_theirs(options: TableOptions) -> TableOptions:
    """Columns that the notes' own table has, where transcripts stand in another."""
    return options.only([name for name in options.columns if name != "transcript"])
