"""Sets of notes read whole, for figures about them: a benchmark's notes, or plain rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.practice.note_rows import read_rows
from heldout.splits.benchmark import Benchmark, Note
from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.benchmark_files import BenchmarkSource, load
from heldout.splits.loading.group_tables import NEEDED
from heldout.splits.loading.records import csv_records, jsonl_records
from heldout.splits.loading.text_files import Faults, InputFile, read_input

ERRORED = "errored"


@dataclass(frozen=True, slots=True)
class KindedNote:
    """A note and what it is: `clean`, the class of its edit, or `errored` where that is unknown."""

    note: Note
    kind: str


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A file or folder of notes. `consultations` and `transcripts` are as a benchmark has them."""

    path: Path
    consultations: Path | None = None
    transcripts: bool = True


def clean_notes(file: NoteFile) -> list[KindedNote]:
    """Every note of a plain file, or the clean notes of a benchmark. Raises BadInput."""
    benchmark = benchmark_of(file)
    if benchmark is None:
        return [KindedNote(note, "clean") for note in _plain(file)]
    found = [KindedNote(note, "clean") for c in benchmark for note in c.clean]
    return _some(found, file, "clean")


def errored_notes(file: NoteFile) -> list[KindedNote]:
    """Every note of a plain file, or the errored notes of a benchmark. Raises BadInput."""
    benchmark = benchmark_of(file)
    if benchmark is None:
        return [KindedNote(note, ERRORED) for note in _plain(file)]
    found = [KindedNote(n, str(n.label.note_class)) for c in benchmark for n in c.errored]
    return _some(found, file, "errored")


def benchmark_of(file: NoteFile) -> Benchmark | None:
    """The benchmark in a file, None where it holds plain rows. Raises BadInput for its faults."""
    if file.path.is_dir():
        return None
    if not is_benchmark(read_input(file.path)):
        return None
    return load(
        BenchmarkSource(
            file.path,
            file.consultations,
            transcript="present" if file.transcripts else "absent",
        )
    )


def is_benchmark(file: InputFile) -> bool:
    """True for pairs and for a table of groups, which say of each note what it is."""
    if file.kind == ".json":
        return True
    faults = Faults()
    if file.kind == ".jsonl":
        first = jsonl_records(InputFile(file.path, _first_line(file), file.sha256), faults)
    elif file.kind == ".csv":
        header = _first_line(file) + b"\nx" + b",x" * _first_line(file).count(b",")
        first = faults.attempt(csv_records, InputFile(file.path, header, ""), NEEDED, faults) or []
    else:
        return False
    names = set(first[0].value) if first else set()
    return {"pair_id", "errored"} <= names or {"group", "kind"} <= names


def _first_line(file: InputFile) -> bytes:
    return file.data.lstrip(b"\xef\xbb\xbf \r\n").split(b"\n", 1)[0].rstrip(b"\r")


def _plain(file: NoteFile) -> list[Note]:
    notes, faults = [], []
    for row in read_rows(file.path, transcripts=file.transcripts):
        if row.note is None:
            faults.append(Fault(f"{file.path}: row {row.number}", row.reason))
        else:
            notes.append(row.note)
    if faults:
        raise BadInput(faults)
    if not notes:
        raise BadInput.one(str(file.path), "holds no note")
    return notes


def _some(found: list[KindedNote], file: NoteFile, word: str) -> list[KindedNote]:
    if not found:
        raise BadInput.one(str(file.path), f"holds no {word} note")
    return found
