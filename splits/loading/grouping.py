"""Valid rows grouped into consultations, with ids that are hashes of content.

Order of rows in a file means nothing: notes stand in order of their pair ids, clean ones in order
of their content ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from heldout.splits.benchmark import Consultation, Note, NoteClass, NoteLabel, note_id
from heldout.splits.counted import counted
from heldout.splits.loading.group_tables import CleanRow
from heldout.splits.loading.pairs import PairRow
from heldout.splits.loading.text_files import Faults
from heldout.splits.loading.transcripts import Transcript

PLACEHOLDER = "(This benchmark has no transcripts.)"
"""What stands in the transcript slot of a benchmark that declares `transcript: absent`."""

R = TypeVar("R", PairRow, CleanRow)


@dataclass(frozen=True, slots=True)
class Groups:
    """Consultations in order of id, and what was left out on the way."""

    consultations: tuple[Consultation, ...]
    notices: tuple[str, ...]


def grouped(
    pairs: Iterable[PairRow],
    clean: Iterable[CleanRow],
    transcripts: Mapping[str, Transcript] | None,
    faults: Faults,
    *,
    place: str | None,
) -> Groups:
    """The consultations of these rows; what does not fit together is noted.

    `transcripts` is None where `PLACEHOLDER` stands in the slot of every note; `place` is the file
    to name where one is missing, None where records of it could not be read anyway.
    """
    pairs_of, clean_of = _by_consultation(pairs), _by_consultation(clean)
    notices: list[str] = []
    consultations = []
    for name in sorted({*pairs_of, *clean_of}):
        transcript = (transcripts or {}).get(name)
        if transcripts is not None and transcript is None and place is not None:
            faults.add(place, f"no transcript of consultation {name!r}")
        rows = _without_repeats(pairs_of.get(name, []), notices, faults)
        _check_twins(rows, transcript, faults)
        texts = {row.clean for row in rows} | {row.text for row in clean_of.get(name, [])}
        spoken = PLACEHOLDER if transcript is None else transcript.text
        consultations.append(consultation_of(name, spoken, texts, rows))
    if idle := sorted(set(transcripts or {}) - set(pairs_of) - set(clean_of)):
        notices.append(
            f"{counted(len(idle), 'consultation')} without a note left out: {', '.join(idle)}"
        )
    return Groups(tuple(consultations), tuple(notices))


def _by_consultation(rows: Iterable[R]) -> dict[str, list[R]]:
    found: dict[str, list[R]] = {}
    for row in rows:
        found.setdefault(row.consultation, []).append(row)
    return found


def _without_repeats(rows: list[PairRow], notices: list[str], faults: Faults) -> list[PairRow]:
    # The same edited text twice would be one note with two rows. With equal labels the second
    # adds nothing; with different ones the data contradicts itself.
    kept: dict[tuple[str, str], PairRow] = {}
    for row in sorted(rows, key=lambda row: row.pair_id):
        first = kept.setdefault((row.clean, row.errored), row)
        if first is row:
            continue
        if _label_of(first) == _label_of(row):
            notices.append(f"pair {row.pair_id!r} left out: same notes as {first.pair_id!r}")
        else:
            message = f"same notes as {first.pair_id!r} ({first.where}) under another label"
            faults.add(row.where, f"errored: {message}")
    return list(kept.values())


def _label_of(row: PairRow) -> tuple[object, ...]:
    return row.note_class, row.trace, row.severity


def _check_twins(rows: list[PairRow], transcript: Transcript | None, faults: Faults) -> None:
    clean = {row.clean: row.pair_id for row in rows}
    for row in rows:
        if row.errored in clean:
            other = clean[row.errored]
            faults.add(row.where, f"errored: is the clean note of pair {other!r}")
        if transcript and transcript.note is not None and row.clean != transcript.note:
            faults.add(row.where, f"clean: differs from the note at {transcript.where}")


def consultation_of(
    name: str, transcript: str, clean_texts: set[str], rows: list[PairRow]
) -> Consultation:
    """One consultation of `stratum|id`: its clean texts, and its pairs in their order."""
    stratum = name.partition("|")[0]
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
