"""ACI-Bench: visit dialogues with reference notes, and no errors.

Layout of the release: CSV files with the columns `dataset, encounter_id, dialogue, note`. `path` is
one such file, the folder `challenge_data`, or a folder above it; metadata files are passed over.
"""

from __future__ import annotations

from pathlib import Path

from heldout.splits.errors import BadInput
from heldout.splits.importers.imported import Imported, TableNote
from heldout.splits.importers.sheets import read_sheet
from heldout.splits.loading.text_files import Faults

STRATUM = "aci"
FOLDER = "challenge_data"
COLUMNS = ("encounter_id", "dialogue", "note")


def read_aci_bench(path: Path) -> Imported:
    """The encounters of `path`; `source` is the file they stand in. Raises BadInput."""
    faults = Faults()
    found: dict[str, TableNote] = {}
    places: dict[str, str] = {}
    for file in _files(path):
        for row in faults.attempt(read_sheet, file, COLUMNS) or ():
            name = row.value["encounter_id"].strip()
            if name in found:
                faults.add(row.where, f"encounter_id: {name!r} stands already at {places[name]}")
                continue
            places[name] = row.where
            dialogue = "\n".join(ln for ln in _lines(row.value["dialogue"]) if ln.strip())
            note = "\n".join(_lines(row.value["note"])).strip("\n")
            for field, text in (("dialogue", dialogue), ("note", note)):
                if not text.strip():
                    faults.add(row.where, f"{field}: is blank")
            source = file.name.partition(".")[0]
            found[name] = TableNote(name, "note", "clean", note, dialogue, STRATUM, source=source)
    faults.raise_any()
    return Imported("aci-bench", tuple(found[name] for name in sorted(found)))


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
