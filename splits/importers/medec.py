"""MEDEC: clinical texts with at most one wrong statement each, and no transcripts.

Read as the release's CSV (`Text ID, Text, …, Error Flag, Error Type, …, Corrected Text`) or as any
other table of the same names. A text with an error becomes a `change` of its corrected
text; a text without one is a clean note.

Most vignettes appear twice, with and without an error, in slightly different words. Both versions
are one group, found by their near-equal text, or a split by rows would hand answers across. They
are no minimal pair: the twin of an errored text is its own correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from heldout.splits.errors import BadInput
from heldout.splits.importers.imported import Imported, TableNote
from heldout.splits.importers.sifting import alike, sifted
from heldout.splits.loading.columns import PLAIN, TableOptions, Wanted
from heldout.splits.loading.ids import number_text
from heldout.splits.loading.records import Record
from heldout.splits.loading.rows import Id, Row, Text, read_row
from heldout.splits.loading.tables import OpenTable, open_table
from heldout.splits.loading.text_files import Faults, read_input
from heldout.splits.overlap import clusters, near_duplicates

STRATUM = "medec"
COLUMNS = ("text_id", "text", "error_flag", "error_type", "corrected_text")
WANTED = Wanted.of((*COLUMNS, "error_sentence", "corrected_sentence"), COLUMNS, ("text_id",))
NOTHING = ("", "na", "n/a", "nan", "null", "none")
"""What stands in a cell without a value."""


class _Text(Row):
    """One text, its cells without what stands for nothing."""

    text_id: Id
    text: Text
    error_flag: Literal["0", "1"]
    error_type: str | None = None
    corrected_text: str | None = Field(default=None, validate_default=True)
    error_sentence: str | None = None
    corrected_sentence: str | None = None

    @field_validator("corrected_text")
    @classmethod
    def _corrects(cls, corrected: str | None, info: ValidationInfo) -> str | None:
        errored = info.data.get("error_flag") == "1"
        if errored and corrected is None:
            raise ValueError("is needed where error_flag is 1")
        return corrected if errored else None

    @property
    def clean(self) -> str:
        """The text without its error."""
        return self.text if self.corrected_text is None else self.corrected_text

    @property
    def fact(self) -> str | None:
        """The wrong sentence and the right one, where both are stated."""
        wrong, right = self.error_sentence, self.corrected_sentence
        return None if wrong is None or right is None else f"{wrong} (should be: {right})"


def read_medec(path: Path, options: TableOptions = PLAIN) -> Imported:
    """The texts of one file. Raises BadInput with every fault found."""
    faults, table = Faults(), _opened(path, options)
    notices = list(table.notices)
    texts: dict[str, _Text] = {}
    places: dict[str, str] = {}
    for record in map(_valued, table.records(faults)):
        text = read_row(_Text, record, faults)
        if text is None:
            continue
        name, corrected = text.text_id, text.corrected_text
        if name in texts:
            faults.add(record.where, f"text_id: {name!r} stands already at {places[name]}")
        elif corrected is not None and alike(corrected, text.text):
            notices.append(f"{name} left out: its correction changes nothing")
        else:
            texts[name], places[name] = text, record.where
    if not texts and not faults.found:
        faults.add(str(path), "holds no text")
    faults.raise_any()
    group = vignettes(list(texts.values()))
    notes = [note for text in texts.values() for note in _notes(text, group[text.text_id])]
    return sifted(Imported(tuple(notes), transcripts=False, notices=tuple(notices)))


def vignettes(texts: Sequence[_Text]) -> dict[str, str]:
    """The group of each text: the first name among those that tell the same case."""
    group = {text.text_id: text.text_id for text in texts}
    for members in clusters(near_duplicates((text.text_id, text.clean) for text in texts)):
        group.update(dict.fromkeys(members, members[0]))
    return group


def _notes(text: _Text, group: str) -> list[TableNote]:
    clean = TableNote(group, f"{text.text_id}-clean", "clean", text.clean, stratum=STRATUM)
    if text.corrected_text is None:
        return [clean]
    errored = TableNote(
        group=group,
        note_id=text.text_id,
        kind="change",
        text=text.text,
        stratum=STRATUM,
        twin=clean.note_id,
        fact=text.fact,
        source=text.error_type,
    )
    return [clean, errored]


def _opened(path: Path, options: TableOptions) -> OpenTable:
    if path.is_dir():
        raise BadInput.one(str(path), "is a folder; give one table of the release")
    return open_table(read_input(path), WANTED, options)


def _valued(record: Record) -> Record:
    return Record(record.where, {name: _value(value) for name, value in record.value.items()})


def _value(value: object) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(value)
    text = "" if value is None else str(value)
    return None if text.strip().lower() in NOTHING else text
