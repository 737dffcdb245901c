"""ACI-Bench: visit dialogues with reference notes, and no errors.

Layout of the release: CSV files with the columns `dataset, encounter_id, dialogue, note`. `path` is
one such file (or any other table of these columns), the folder `challenge_data`, or a folder above
it; metadata files are passed over.
"""

from __future__ import annotations

from pathlib import Path

from heldout.splits.errors import BadInput
from heldout.splits.importers.imported import Imported, TableNote
from heldout.splits.importers.sifting import sifted
from heldout.splits.loading.columns import PLAIN, TableOptions, Wanted
from heldout.splits.loading.rows import Id, Row, Text, read_row
from heldout.splits.loading.tables import OpenTable, open_table
from heldout.splits.loading.text_files import Faults, read_input

STRATUM = "aci"
FOLDER = "challenge_data"
NAMES = ("encounter_id", "dialogue", "note")
WANTED = Wanted.of(NAMES, NAMES, ("encounter_id",))


class _Encounter(Row):
    encounter_id: Id
    dialogue: Text
    note: Text


def read_aci_bench(path: Path, options: TableOptions = PLAIN) -> Imported:
    """The encounters of `path`; `source` is the file they stand in. Raises BadInput."""
    faults, said = Faults(), list[str]()
    found: dict[str, TableNote] = {}
    places: dict[str, str] = {}
    for file in _files(path):
        table = faults.attempt(_opened, file, options)
        if table is None:
            continue
        said += table.notices
        for record in table.records(faults):
            row = read_row(_Encounter, record, faults)
            if row is None:
                continue
            name = row.encounter_id
            if name in found:
                message = f"encounter_id: {name!r} stands already at {places[name]}"
                faults.add(record.where, message)
                continue
            places[name] = record.where
            dialogue = "\n".join(line for line in _lines(row.dialogue) if line.strip())
            note = "\n".join(_lines(row.note)).strip("\n")
            source = file.name.partition(".")[0]
            found[name] = TableNote(name, name, "clean", note, dialogue, STRATUM, source=source)
    faults.raise_any()
    return sifted(Imported(tuple(found[name] for name in sorted(found)), notices=tuple(said)))


def _opened(path: Path, options: TableOptions) -> OpenTable:
    return open_table(read_input(path), WANTED, options)


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
