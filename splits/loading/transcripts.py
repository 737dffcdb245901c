"""Where the transcript of a consultation comes from: a JSON Lines file, or a folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationInfo, field_validator

from heldout.splits.errors import BadInput
from heldout.splits.loading.records import Record
from heldout.splits.loading.rows import Name, Row, Stratum, Text, read_row, text_problem
from heldout.splits.loading.text_files import Faults, InputFile, read_input, whole_text


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
    """

    by_id: dict[str, Transcript] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    complete: bool = True


class _ConsultationRow(Row):
    """`stratum` stands behind the id it has to fit, so that its validator sees it."""

    consultation_id: Name
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
        name = record.value.get("consultation_id")
        if not isinstance(name, str):
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


def from_folder(folder: Path, wanted: Iterable[str], faults: Faults) -> Transcripts:
    """Transcripts at `<folder>/<stratum>/<id>.txt`, or in a folder `transcripts` inside it.

    Only those of the consultations `wanted` are read; one that is missing or unsound is noted and
    stands as an empty text.
    """
    root = folder / "transcripts" if (folder / "transcripts").is_dir() else folder
    result = Transcripts()
    for name in sorted(set(wanted)):
        stratum, _, ident = name.partition("|")
        path = root / stratum / f"{ident}.txt"
        result.by_id[name] = Transcript(str(path), "")
        if not (_is_plain(stratum) and _is_plain(ident)):
            faults.add(str(root), f"{name!r} cannot be the name of a transcript file")
        elif not path.exists():
            faults.add(str(path), f"no transcript of consultation {name!r}")
        elif (file := faults.attempt(read_input, path)) is not None:
            result.files[f"{root.name}/{stratum}/{path.name}"] = file.sha256
            text = faults.attempt(_sound_text, file)
            result.by_id[name] = Transcript(str(path), text or "")
    return result


def _sound_text(file: InputFile) -> str:
    text = whole_text(file)
    if problem := text_problem(text):
        raise BadInput.one(str(file.path), problem)
    return text


def _is_plain(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\")
