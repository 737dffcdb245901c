"""ACI-Bench: visit dialogues with reference notes, and no errors.

Layout of the release: CSV files with the columns `dataset, encounter_id, dialogue, note`. `path` is
one such file, the folder `challenge_data`, or a folder above it; metadata files are passed over.
"""

from __future__ import annotations

from pathlib import Path

from heldout.splits.errors import BadInput
from heldout.splits.importers.imported import Imported, TableNote, plain_name
from heldout.splits.loading.records import Record, csv_records
from heldout.splits.loading.rows import Row, Text, read_row
from heldout.splits.loading.text_files import Faults, read_input

STRATUM = "aci"
FOLDER = "challenge_data"


class _Encounter(Row):
    encounter_id: Text
    dialogue: Text
    note: Text


def read_aci_bench(path: Path) -> Imported:
    """The encounters of `path`; `source` is the file they stand in. Raises BadInput."""
    faults = Faults()
    found: dict[str, TableNote] = {}
    places: dict[str, str] = {}
    for file in _files(path):
        for record in faults.attempt(_rows, file, faults) or ():
            row = read_row(_Encounter, record, faults)
            if row is None:
                continue
            name = row.encounter_id.strip()
            if name in found:
                message = f"encounter_id: {name!r} stands already at {places[name]}"
                faults.add(record.where, message)
                continue
            places[name] = record.where
            dialogue = "\n".join(line for line in _lines(row.dialogue) if line.strip())
            note = "\n".join(_lines(row.note)).strip("\n")
            source = file.name.partition(".")[0]
            found[name] = TableNote(name, "note", "clean", note, dialogue, STRATUM, source=source)
    faults.raise_any()
    return Imported(tuple(found[name] for name in sorted(found)))


def _rows(path: Path, faults: Faults) -> list[Record]:
    columns = tuple(_Encounter.model_fields)
    return csv_records(read_input(path), columns, faults, plain=plain_name, strict=False)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    folder = next((p for p in (path / "data" / FOLDER, path / FOLDER) if p.is_dir()), path)
    files = [file for file in sorted(folder.glob("*.csv")) if "metadata" not in file.name]
    if not files:
        raise BadInput.one(str(path), f"holds no CSV of encounters; give {FOLDER} or one file")
    return files


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
