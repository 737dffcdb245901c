"""Valid rows grouped into consultations, with ids that are hashes of content.

Order of rows in a file means nothing: notes stand in order of their pair ids, clean ones in order
of their content ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from heldout.splits.benchmark import Consultation, Note, NoteClass, NoteLabel, note_id
from heldout.splits.loading.group_tables import CleanRow
from heldout.splits.loading.pairs import PairRow
from heldout.splits.loading.text_files import Faults
from heldout.splits.loading.transcripts import Transcript

R = TypeVar("R", PairRow, CleanRow)


@dataclass(frozen=True, slots=True)
class Material:
    """What the files of a benchmark hold.

    `transcripts` is None where `placeholder` stands in the slot of every note; `place` is the
    file to name where one is missing, None where records of it could not be read anyway.
    """

    pairs: list[PairRow]
    clean: list[CleanRow]
    transcripts: Mapping[str, Transcript] | None
    placeholder: str
    place: str | None


@dataclass(frozen=True, slots=True)
class Groups:
    """Consultations in order of id, and what was left out on the way."""

    consultations: tuple[Consultation, ...]
    notices: tuple[str, ...]


def grouped(material: Material, faults: Faults) -> Groups:
    """The consultations of `material`; what does not fit together is noted."""
    pairs, clean = _by_consultation(material.pairs), _by_consultation(material.clean)
    notices: list[str] = []
    consultations = []
    for name in sorted({*pairs, *clean}):
        transcript = _transcript(name, material, faults)
        rows = _without_repeats(pairs.get(name, []), notices, faults)
        _check_twins(rows, transcript, faults)
        clean_texts = {row.clean for row in rows} | {row.text for row in clean.get(name, [])}
        text = material.placeholder if transcript is None else transcript.text
        stratum = name.partition("|")[0]
        consultations.append(_consultation(name, stratum, text, clean_texts, rows))
    if idle := sorted(set(material.transcripts or {}) - set(pairs) - set(clean)):
        notices.append(f"{len(idle)} consultation(s) without a note left out: {', '.join(idle)}")
    return Groups(tuple(consultations), tuple(notices))


def _by_consultation(rows: Iterable[R]) -> dict[str, list[R]]:
    found: dict[str, list[R]] = {}
    for row in rows:
        found.setdefault(row.consultation, []).append(row)
    return found


def _transcript(name: str, material: Material, faults: Faults) -> Transcript | None:
    if material.transcripts is None:
        return None
    found = material.transcripts.get(name)
    if found is None and material.place is not None:
        faults.add(material.place, f"no transcript of consultation {name!r}")
    return found


def _without_repeats(rows: list[PairRow], notices: list[str], faults: Faults) -> list[PairRow]:
    # The same edited text twice would be one note with two rows. With equal labels the second
    # adds nothing; with different ones the data contradicts itself.
    kept: dict[tuple[str, str], PairRow] = {}
    for row in sorted(rows, key=lambda row: row.pair_id):
        first = kept.setdefault((row.clean, row.errored), row)
        if first is row:
            continue
        same = all(
            getattr(first, name) == getattr(row, name)
            for name in ("note_class", "trace", "severity")
        )
        if same:
            notices.append(f"pair {row.pair_id!r} left out: same notes as {first.pair_id!r}")
        else:
            message = f"same notes as {first.pair_id!r} ({first.where}) under another label"
            faults.add(row.where, f"errored: {message}")
    return list(kept.values())


def _check_twins(rows: list[PairRow], transcript: Transcript | None, faults: Faults) -> None:
    clean = {row.clean: row.pair_id for row in rows}
    for row in rows:
        if row.errored in clean:
            other = clean[row.errored]
            faults.add(row.where, f"errored: is the clean note of pair {other!r}")
        if transcript and transcript.note is not None and row.clean != transcript.note:
            faults.add(row.where, f"clean: differs from the note at {transcript.where}")


def _consultation(
    name: str, stratum: str, transcript: str, clean_texts: set[str], rows: list[PairRow]
) -> Consultation:
    clean_ids = {text: note_id(name, text, NoteClass.CLEAN, text) for text in clean_texts}
    siblings = (*sorted(clean_texts), *(row.errored for row in rows))
    clean = [
        Note(
            label=NoteLabel(ident, name, stratum, NoteClass.CLEAN, twin=ident),
            text=text,
            transcript=transcript,
            siblings=siblings,
        )
        for text, ident in sorted(clean_ids.items(), key=lambda item: item[1])
    ]
    errored = [
        Note(
            label=NoteLabel(
                id=note_id(name, row.errored, row.note_class, row.clean),
                consultation=name,
                stratum=stratum,
                note_class=row.note_class,
                twin=clean_ids[row.clean],
                trace=row.trace,
                severity=row.severity,
                source=row.source,
                pair_id=row.pair_id,
            ),
            text=row.errored,
            transcript=transcript,
            fact=row.fact,
            residual=row.residual,
            siblings=siblings,
        )
        for row in rows
    ]
    return Consultation(name, stratum, transcript, tuple(clean), tuple(errored))
