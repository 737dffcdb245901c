"""PriMock57: mock primary-care consultations with one clinician's note each, and no errors.

Layout of the release: `notes/<name>.json` with a field `note`, and `<name>_doctor.TextGrid` and
`<name>_patient.TextGrid` in `transcripts`, whose utterances are merged by start time into lines
`[doctor] …` and `[patient] …`. Tags for what could not be understood are dropped, words marked as
unsure are kept.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heldout.splits.errors import BadInput
from heldout.splits.importers.imported import Imported, TableNote
from heldout.splits.importers.sifting import sifted
from heldout.splits.loading.text_files import Faults, read_input, whole_text

STRATUM = "primock"
SPEAKERS = ("doctor", "patient")

_UNHEARD = re.compile(r"<(?:UNIN|INAUDIBLE_SPEECH)\s*/?>")
_TAG = re.compile(r"</?[A-Z_]+\s*/?>")
_ORPHAN = re.compile(r"(?:^|(?<=\s))[,.;:!?-]+(?=\s|$)")
_INTERVAL = re.compile(
    r"intervals\s*\[\d+\]:?\s*xmin\s*=\s*(?P<start>[\d.eE+-]+)\s*"
    r'xmax\s*=\s*(?P<end>[\d.eE+-]+)\s*text\s*=\s*"(?P<text>(?:[^"]|"")*)"'
)
_HEADER = 'Object class = "TextGrid"'
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Utterance:
    """One interval: start in seconds, and its text with doubled quotes resolved."""

    start: float
    text: str


def read_primock57(path: Path) -> Imported:
    """The consultations under `path`. Raises BadInput with every fault found."""
    notes = sorted((path / "notes").glob("*.json"))
    if not notes:
        raise BadInput.one(str(path), "holds no notes/*.json; give the folder of the release")
    faults, found = Faults(), []
    for file in notes:
        note = faults.attempt(_note, file)
        transcript = faults.attempt(_transcript, path / "transcripts", file.stem)
        if note is None or transcript is None:
            continue
        found.append(TableNote(file.stem, file.stem, "clean", note, transcript, STRATUM))
    faults.raise_any()
    return sifted(Imported(tuple(found)))


def _note(file: Path) -> str:
    try:
        content = json.loads(whole_text(read_input(file)))
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadInput.one(str(file), f"not JSON: {error}") from None
    note = content.get("note") if isinstance(content, dict) else None
    if not isinstance(note, str) or not note.strip():
        raise BadInput.one(str(file), "note: a text is needed")
    return "\n".join(line.rstrip() for line in note.strip().splitlines())


def _transcript(folder: Path, name: str) -> str:
    """Both tiers merged by start time; of two that start together the doctor's comes first."""
    turns: list[tuple[float, int, str]] = []
    for order, speaker in enumerate(SPEAKERS):
        for utterance in read_textgrid(folder / f"{name}_{speaker}.TextGrid"):
            if words := spoken(utterance):
                turns.append((utterance.start, order, f"[{speaker}] {words}"))
    if not turns:
        raise BadInput.one(str(folder / name), "both tiers are empty")
    return "\n".join(line for _, _, line in sorted(turns, key=lambda turn: turn[:2]))


def spoken(utterance: Utterance) -> str:
    """The words of an utterance: tags dropped, with punctuation that stood only for the unheard."""
    text = _UNHEARD.sub(" ", utterance.text)
    if text != utterance.text:
        text = _ORPHAN.sub(" ", text)
    return " ".join(_TAG.sub("", text).split())


def read_textgrid(path: Path) -> list[Utterance]:
    """The intervals of a TextGrid, in order. Raises BadInput for anything else."""
    data = read_input(path).data
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8-sig")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput.one(str(path), f"is not {encoding} text: {error.reason}") from None
    if _HEADER not in text[:200]:
        raise BadInput.one(str(path), "is not a TextGrid in its long text form")
    return list(_intervals(text))


def _intervals(text: str) -> Iterator[Utterance]:
    for found in _INTERVAL.finditer(text):
        yield Utterance(float(found["start"]), found["text"].replace('""', '"'))
