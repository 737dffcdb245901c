"""Pairs: one record a pair, in the released OmissionBench layout or its fields as JSON Lines.

Read: `pair_id, stratum, id, class, severity, clean, errored, fact`, for omissions `residual_level`
and `residual {verified_sites | sites: [{quote, section, strength}]}`, and where they stand `type`,
`edit {start, end, before, after}` and `source`. Other fields are left alone. Severity may be null
for additions and changes, and `fact` for any pair: the release grades facts that were removed, and
not every pair of it states one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from heldout.splits.benchmark import NoteClass, Severity, Site, TraceLevel
from heldout.splits.loading.columns import Wanted
from heldout.splits.loading.ids import id_or_none
from heldout.splits.loading.records import Record
from heldout.splits.loading.rows import (
    Name,
    Row,
    Stratum,
    Text,
    Whole,
    not_one_of,
    read_row,
    shown,
    text_problem,
)
from heldout.splits.loading.text_files import Faults

NEEDED = ("pair_id", "id", "stratum", "class", "severity", "clean", "errored", "fact")
WANTED = Wanted.of(
    (*NEEDED, "residual_level", "residual", "type", "edit", "source"), NEEDED, ("pair_id",)
)
"""Pairs whose fields have other names in a person's file."""

_LEVELS = {
    NoteClass.OMIT_COMPLETE: (TraceLevel.COMPLETE,),
    NoteClass.OMIT_PARTIAL: (TraceLevel.PARTIAL_WEAK, TraceLevel.PARTIAL_STRONG),
}


@dataclass(frozen=True, slots=True)
class PairRow:
    """One valid pair and the place it was read from, before pairs are grouped."""

    where: str
    consultation: str
    pair_id: str
    note_class: NoteClass
    trace: TraceLevel | None
    severity: Severity | None
    clean: str
    errored: str
    fact: str | None
    residual: tuple[Site, ...]
    source: str


def read_pairs(records: Iterable[Record], faults: Faults) -> list[PairRow]:
    """Every valid pair of `records`; what is wrong with the others is noted."""
    rows = []
    first: dict[str, str] = {}
    for record in records:
        omission = record.value.get("class") in list(_LEVELS)
        row = read_row(_Omission if omission else _Pair, record, faults)
        pair_id = id_or_none(record.value.get("pair_id"))
        if pair_id in first:
            faults.add(record.where, f"pair_id: {pair_id!r} stands already at {first[pair_id]}")
        elif pair_id is not None:
            first[pair_id] = record.where
        if row is not None:
            rows.append(row.as_pair(record.where))
    return rows


def check_level(level: str, note_class: NoteClass) -> None:
    """Raise ValueError for a level that the class does not allow; only omissions have one."""
    if not note_class.is_omission:
        raise ValueError(f"{level} on a pair of class {note_class}: only omissions have a level")
    if level not in (fitting := _LEVELS[note_class]):
        raise ValueError(f"{level} does not fit class {note_class}: {' or '.join(fitting)}")


def same_text(clean: str, errored: str) -> str | None:
    """What makes the two notes of a pair one and the same, None where they differ."""
    if clean == errored:
        return "is the same text as its clean twin"
    same = clean.split() == errored.split()
    return "differs from its clean twin in white space only" if same else None


def _not_clean(note_class: Any) -> Any:
    names = [str(member) for member in NoteClass if member is not NoteClass.CLEAN]
    if note_class is not None and note_class not in names:
        raise ValueError(not_one_of(note_class, names))
    return note_class


def _sound_or_empty(text: str | None) -> str:
    if text and (problem := text_problem(text)):
        raise ValueError(problem)
    return text or ""


class _Site(Row):
    quote: Annotated[str, AfterValidator(_sound_or_empty)]
    section: Annotated[str | None, AfterValidator(_sound_or_empty)] = ""
    strength: Annotated[str | None, AfterValidator(_sound_or_empty)] = ""


class _Residual(Row):
    verified_sites: tuple[_Site, ...] = ()
    sites: tuple[_Site, ...] = ()


class _Edit(Row):
    start: Whole
    end: Whole
    after: str


class _Pair(Row):
    """The fields of a pair. A validator sees the fields above its own, as far as they are sound."""

    pair_id: Name
    id: Name
    stratum: Stratum
    note_class: Annotated[NoteClass, BeforeValidator(_not_clean), Field(alias="class")]
    residual_level: Any = None
    severity: Severity | None
    clean: Text
    errored: Text
    fact: Text | None
    residual: _Residual | None = None
    type: Any = None
    edit: _Edit | None = None
    source: Any = None

    @field_validator("residual_level")
    @classmethod
    def _fits(cls, level: Any, info: ValidationInfo) -> Any:
        note_class = info.data.get("note_class")
        if level is None:
            return None
        if note_class is not None:
            check_level(level if isinstance(level, str) else shown(level), note_class)
        elif level not in list(TraceLevel):
            raise ValueError(not_one_of(level, list(map(str, TraceLevel))))
        return level

    @field_validator("errored")
    @classmethod
    def _unlike(cls, errored: str, info: ValidationInfo) -> str:
        if problem := same_text(info.data.get("clean", ""), errored):
            raise ValueError(problem)
        return errored

    @field_validator("residual", mode="before")
    @classmethod
    def _chosen(cls, residual: Any) -> Any:
        if not isinstance(residual, dict):
            return residual
        name = "verified_sites" if residual.get("verified_sites") else "sites"
        return {name: residual.get(name) or ()}

    @field_validator("type")
    @classmethod
    def _agrees(cls, given: Any, info: ValidationInfo) -> Any:
        note_class = info.data.get("note_class")
        if note_class is not None:
            expected = "omit" if note_class.is_omission else str(note_class)
            if given != expected:
                raise ValueError(f"{shown(given)} does not fit class {note_class}: {expected!r}")
        return given

    @field_validator("edit")
    @classmethod
    def _replays(cls, edit: _Edit | None, info: ValidationInfo) -> _Edit | None:
        # Where the file states its edit it can be replayed. Without one nothing is concluded from
        # the texts: a fact stated in two places is removed by two edits, as in the release.
        clean, errored = info.data.get("clean"), info.data.get("errored")
        if edit is None or clean is None or errored is None:
            return edit
        if not 0 <= edit.start <= edit.end <= len(clean):
            raise ValueError(f"start {edit.start} and end {edit.end} do not lie in the clean note")
        if clean[: edit.start] + edit.after + clean[edit.end :] != errored:
            raise ValueError("does not turn the clean note into the errored one")
        return edit

    def as_pair(self, where: str) -> PairRow:
        sites = () if self.residual is None else self.residual.verified_sites or self.residual.sites
        return PairRow(
            where=where,
            consultation=f"{self.stratum}|{self.id}",
            pair_id=self.pair_id,
            note_class=self.note_class,
            trace=self.residual_level,
            severity=self.severity,
            clean=self.clean,
            errored=self.errored,
            fact=self.fact,
            residual=tuple(Site(s.quote, s.section or "", s.strength or "") for s in sites),
            source=self.source if isinstance(self.source, str) else "",
        )


class _Omission(_Pair):
    """A pair that removed a fact has a level and a severity."""

    residual_level: TraceLevel
    severity: Severity
