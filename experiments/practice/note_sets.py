"""Sets of notes read whole, for figures about them: a benchmark's notes, or plain rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from heldout.experiments.practice.note_rows import NoteFile, open_notes
from heldout.experiments.practice.session import tell_nobody
from heldout.splits.benchmark import Benchmark, Note
from heldout.splits.errors import BadInput, Fault
from heldout.splits.heldout.registry import Use, consultation_digests, register_use, together
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.splits.loading.columns import PLAIN, TableOptions
from heldout.splits.loading.group_tables import WANTED
from heldout.splits.loading.records import Record, json_rows
from heldout.splits.loading.tables import JSON_LINES, open_table
from heldout.splits.loading.text_files import InputFile, read_input

ERRORED = "errored"
_GROUPS = replace(WANTED, needed=("group", "kind"))


@dataclass(frozen=True, slots=True)
class KindedNote:
    """A note and what it is: `clean`, the class of its edit, or `errored` where that is unknown."""

    note: Note
    kind: str


def clean_notes(file: NoteFile, tell: Callable[[str], None] = tell_nobody) -> list[KindedNote]:
    """Every note of a plain file, or the clean notes of a benchmark.

    `tell` hears how a file was read that is not plain. Raises BadInput.
    """
    benchmark = benchmark_of(file, tell)
    if benchmark is None:
        return [KindedNote(note, "clean") for note in _plain(file, tell)]
    found = [KindedNote(note, "clean") for c in benchmark for note in c.clean]
    return _some(found, file, "clean")


def errored_notes(file: NoteFile, tell: Callable[[str], None] = tell_nobody) -> list[KindedNote]:
    """Every note of a plain file, or the errored notes of a benchmark; see `clean_notes`."""
    benchmark = benchmark_of(file, tell)
    if benchmark is None:
        return [KindedNote(note, ERRORED) for note in _plain(file, tell)]
    found = [KindedNote(n, str(n.label.note_class)) for c in benchmark for n in c.errored]
    return _some(found, file, "errored")


def benchmark_of(file: NoteFile, tell: Callable[[str], None] = tell_nobody) -> Benchmark | None:
    """The benchmark in a file, None where it holds plain rows. Raises BadInput for its faults."""
    if file.path.is_dir():
        return None
    if not is_benchmark(read_input(file.path), file.table):
        return None
    loaded = open_benchmark(
        BenchmarkSource(
            file.path,
            file.consultations,
            transcript="present" if file.transcripts else "absent",
            table=file.table,
        )
    )
    for notice in loaded.notices:
        tell(notice)
    return loaded.benchmark


def register_labelled(file: NoteFile, run: str, what: str) -> None:
    """Register that the labelled consultations of a benchmark file were judged under a block.

    Plain rows have no labels, and nothing is registered of them.
    """
    benchmark = benchmark_of(file)
    if benchmark is not None:
        present = benchmark.has_transcripts
        known = together(consultation_digests(c, has_transcripts=present) for c in benchmark)
        register_use(file.path, frozenset(known), Use(run, what, counts=True))


def is_benchmark(file: InputFile, options: TableOptions = PLAIN) -> bool:
    """True for pairs and for a table of groups, which say of each note what it is."""
    if file.kind == ".json":
        return True
    if file.kind in JSON_LINES and options.encoding is None:
        records = (row for row in json_rows(file) if isinstance(row, Record))
        first = next(records, Record("", {})).value
        if {"pair_id", "errored"} <= {*first, *options.columns}:
            return True
    try:
        open_table(file, _GROUPS, options)
    except BadInput:
        return False  # whoever reads it says what is wrong
    return True


def _plain(file: NoteFile, tell: Callable[[str], None]) -> list[Note]:
    opened, notes, faults = open_notes(file), [], []
    for notice in opened.notices:
        tell(notice)
    for row in opened.rows():
        if row.note is None:
            faults.append(Fault(row.where, row.reason))
        else:
            notes.append(row.note)
    if faults:
        raise BadInput(faults)
    return notes


def _some(found: list[KindedNote], file: NoteFile, word: str) -> list[KindedNote]:
    if not found:
        raise BadInput.one(str(file.path), f"holds no {word} note")
    return found
