"""MEDEC: clinical texts with at most one wrong statement each, and no transcripts.

Read as the release's CSV (`Text ID, Text, …, Error Flag, Error Type, …, Corrected Text`) or as JSON
Lines of the same names in lower case. A text with an error becomes a `change` of its corrected
text; a text without one is a clean note.

Most vignettes appear twice, with and without an error, in slightly different words. Both versions
are one group, found by their near-equal text, or a split by rows would hand answers across. They
are no minimal pair: the twin of an errored text is its own correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heldout.splits.errors import BadInput
from heldout.splits.importers.imported import Imported, TableNote, plain_name
from heldout.splits.loading.records import Record, check_columns, csv_records, jsonl_records
from heldout.splits.loading.text_files import Faults, read_input
from heldout.splits.overlap import clusters, near_duplicates

STRATUM = "medec"
COLUMNS = ("text_id", "text", "error_flag", "error_type", "corrected_text")
SENTENCES = ("error_sentence", "corrected_sentence")
NOTHING = ("", "na", "n/a", "nan", "null", "none")
"""What stands in a cell without a value."""


@dataclass(frozen=True, slots=True)
class _Text:
    where: str
    name: str
    text: str
    corrected: str | None
    error_type: str | None
    fact: str | None

    @property
    def clean(self) -> str:
        """The text without its error."""
        return self.text if self.corrected is None else self.corrected


def read_medec(path: Path) -> Imported:
    """The texts of one file. Raises BadInput with every fault found."""
    faults, notices = Faults(), []
    texts: dict[str, _Text] = {}
    for row in _rows(path, faults):
        text = _text(row, faults)
        if text is None:
            continue
        if text.name in texts:
            message = f"text_id: {text.name!r} stands already at {texts[text.name].where}"
            faults.add(row.where, message)
        elif text.corrected is not None and text.corrected.split() == text.text.split():
            notices.append(f"{text.name} left out: its correction changes nothing")
        else:
            texts[text.name] = text
    if not texts and not faults.found:
        faults.add(str(path), "holds no text")
    faults.raise_any()
    group = vignettes(list(texts.values()))
    notes = [note for text in texts.values() for note in _notes(text, group[text.name])]
    return Imported("medec", tuple(notes), transcripts=False, notices=tuple(notices))


def vignettes(texts: Sequence[_Text]) -> dict[str, str]:
    """The group of each text: the first name among those that tell the same case."""
    group = {text.name: text.name for text in texts}
    for members in clusters(near_duplicates((text.name, text.clean) for text in texts)):
        group.update(dict.fromkeys(members, members[0]))
    return group


def _notes(text: _Text, group: str) -> list[TableNote]:
    clean = TableNote(group, f"{text.name}-clean", "clean", text.clean, stratum=STRATUM)
    if text.corrected is None:
        return [clean]
    errored = TableNote(
        group=group,
        note_id=text.name,
        kind="change",
        text=text.text,
        stratum=STRATUM,
        twin=clean.note_id,
        fact=text.fact,
        source=text.error_type,
    )
    return [clean, errored]


def _rows(path: Path, faults: Faults) -> list[Record]:
    if path.is_dir():
        raise BadInput.one(str(path), "is a folder; give one CSV or JSON Lines file of the release")
    file = read_input(path)
    if file.kind == ".csv":
        return csv_records(file, COLUMNS, faults, plain=plain_name, strict=False)
    rows = jsonl_records(file, faults)
    if rows:
        check_columns(rows[0].where, [plain_name(name) for name in rows[0].value], COLUMNS)
    return rows


def _text(row: Record, faults: Faults) -> _Text | None:
    cells = {plain_name(name): _value(value) for name, value in row.value.items()}
    name, text, flag = (cells.get(key) for key in ("text_id", "text", "error_flag"))
    before = len(faults.found)
    if name is None or text is None:
        faults.add(row.where, "text_id and text are needed")
    if flag not in ("0", "1"):
        faults.add(row.where, f"error_flag: must be 0 or 1, not {flag!r}")
    corrected = cells.get("corrected_text") if flag == "1" else None
    if flag == "1" and corrected is None:
        faults.add(row.where, "corrected_text: is needed where error_flag is 1")
    if len(faults.found) > before or name is None or text is None:
        return None
    error_type = cells.get("error_type") if flag == "1" else None
    return _Text(row.where, name, text, corrected, error_type, _fact(cells))


def _fact(cells: dict[str, str | None]) -> str | None:
    wrong, right = (cells.get(name) for name in SENTENCES)
    return None if wrong is None or right is None else f"{wrong} (should be: {right})"


def _value(value: object) -> str | None:
    text = "" if value is None else str(value)
    return None if text.strip().lower() in NOTHING else text
