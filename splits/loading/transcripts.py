"""Where the transcript of a consultation comes from: a table, or a folder."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationInfo, field_validator

from heldout.splits.errors import BadInput
from heldout.splits.loading.captions import SUFFIXES, transcript_text
from heldout.splits.loading.columns import Wanted
from heldout.splits.loading.ids import id_or_none
from heldout.splits.loading.records import Record
from heldout.splits.loading.rows import Row, Stratum, Text, TextName, read_row, text_problem
from heldout.splits.loading.text_files import Faults, InputFile, read_input

NAMES = ("consultation_id", "transcript", "note", "stratum")
WANTED = Wanted.of(NAMES, ("consultation_id", "transcript"), ("consultation_id",))
"""A table of consultations."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One transcript; `note` is the clean note that stands beside it, where one does."""

    where: str
    text: str
    note: str | None = None


@dataclass
class Transcripts:
    """Transcripts by consultation, and the SHA-256 of the files they were read from, by name.

    `complete` is False where a record could not be read, so that one may be missing for that.
    `notices` say how a table was read that is not plain.
    """

    by_id: dict[str, Transcript] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    complete: bool = True
    notices: tuple[str, ...] = ()


class _ConsultationRow(Row):
    """`stratum` stands behind the id it has to fit, so that its validator sees it."""

    consultation_id: TextName
    transcript: Text
    note: Text | None = None
    stratum: Stratum | None = None

    @field_validator("consultation_id")
    @classmethod
    def _in_two_parts(cls, name: str) -> str:
        if not all(name.partition("|")):
            raise ValueError(f"{name!r} is not of the form stratum|id")
        return name

    @field_validator("stratum")
    @classmethod
    def _agrees(cls, stratum: str | None, info: ValidationInfo) -> str | None:
        name = info.data.get("consultation_id")
        if stratum is not None and name is not None and name.partition("|")[0] != stratum:
            raise ValueError(f"{stratum!r} does not fit consultation {name!r}")
        return stratum


def from_records(records: Iterable[Record], faults: Faults) -> dict[str, Transcript]:
    """Transcripts of `{consultation_id, transcript, note?, stratum?}` records."""
    found: dict[str, Transcript] = {}
    for record in records:
        row = read_row(_ConsultationRow, record, faults)
        name = id_or_none(record.value.get("consultation_id"))
        if name is None:
            continue
        if name in found:
            message = f"consultation_id: {name!r} stands already at {found[name].where}"
            faults.add(record.where, message)
            continue
        # A blank transcript is a fault of its own and must not count as missing as well.
        text, note = "" if row is None else row.transcript, record.value.get("note")
        sound = isinstance(note, str) and not text_problem(note)
        found[name] = Transcript(record.where, text, note if sound else None)
    return found


def from_folder(
    folder: Path, wanted: Iterable[str], faults: Faults, encoding: str | None = None
) -> Transcripts:
    """Transcripts at `<folder>/<stratum>/<id>.txt`, or in a folder `transcripts` inside it.

    `.vtt`, `.srt` and `.json` are read where there is no `.txt`. Only those of the consultations
    `wanted` are read; one that is missing or unsound is noted and stands as an empty text.
    """
    root = folder / "transcripts" if (folder / "transcripts").is_dir() else folder
    result = Transcripts()
    for name in sorted(set(wanted)):
        stratum, _, ident = name.partition("|")
        path = root / stratum / f"{ident}.txt"
        result.by_id[name] = Transcript(str(path), "")
        if not (_is_plain(stratum) and _is_plain(ident)):
            faults.add(str(root), f"{name!r} cannot be the name of a transcript file")
            continue
        path = transcript_file(root / stratum, ident) or path
        if not path.exists():
            faults.add(str(path), f"no transcript of consultation {name!r}")
        elif (file := faults.attempt(read_input, path)) is not None:
            result.files[f"{root.name}/{stratum}/{path.name}"] = file.sha256
            text = faults.attempt(_sound_text, file, encoding)
            result.by_id[name] = Transcript(str(path), text or "")
    return result


def transcript_file(folder: Path, stem: str) -> Path | None:
    """The transcript `stem` in `folder`: the first of its kinds, its name composed or not."""
    spellings = dict.fromkeys([stem, unicodedata.normalize("NFD", stem)])
    paths = (folder / f"{name}{suffix}" for suffix in SUFFIXES for name in spellings)
    return next((path for path in paths if path.exists()), None)


def _sound_text(file: InputFile, encoding: str | None) -> str:
    text = transcript_text(file, encoding)
    if problem := text_problem(text):
        raise BadInput.one(str(file.path), problem)
    return text


def _is_plain(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\")
