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
from typing import Any

from heldout.splits.benchmark import NoteClass, Severity, Site, TraceLevel
from heldout.splits.loading.fields import Fields, text_problem
from heldout.splits.loading.json_records import Record, type_name
from heldout.splits.loading.text_files import Faults

PAIR_CLASSES = tuple(member for member in NoteClass if member is not NoteClass.CLEAN)

_LEVELS = {
    NoteClass.OMIT_COMPLETE: (TraceLevel.COMPLETE,),
    NoteClass.OMIT_PARTIAL: (TraceLevel.PARTIAL_WEAK, TraceLevel.PARTIAL_STRONG),
}


@dataclass(frozen=True, slots=True)
class PairRow:
    """One valid pair and the place it was read from, before pairs are grouped."""

    where: str
    consultation: str
    stratum: str
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
        row = read_pair(Fields(record, faults))
        pair_id = record.value.get("pair_id")
        if isinstance(pair_id, str) and pair_id in first:
            faults.add(record.where, f"pair_id: {pair_id!r} stands already at {first[pair_id]}")
        elif isinstance(pair_id, str):
            first[pair_id] = record.where
        if row is not None:
            rows.append(row)
    return rows


def read_pair(fields: Fields) -> PairRow | None:
    """The pair of one record; None after any fault in it."""
    before = len(fields.faults.found)
    pair_id, name = fields.name("pair_id"), fields.name("id")
    stratum = fields.name("stratum", bar=False)
    note_class = fields.choice("class", PAIR_CLASSES)
    trace = read_trace(fields, "residual_level", note_class)
    severity = read_severity(fields, note_class)
    clean, errored = fields.text("clean"), fields.text("errored")
    fact = fields.text("fact", optional=True) if fields.present("fact") else None
    residual = _residual(fields)
    _check_type(fields, note_class)
    if clean is not None and errored is not None:
        check_texts(fields, "errored", clean, errored)
        _check_edit(fields, clean, errored)
    if len(fields.faults.found) > before or note_class is None or clean is None or errored is None:
        return None
    source = fields.record.value.get("source")
    return PairRow(
        where=fields.record.where,
        consultation=f"{stratum}|{name}",
        stratum=str(stratum),
        pair_id=str(pair_id),
        note_class=note_class,
        trace=trace,
        severity=severity,
        clean=clean,
        errored=errored,
        fact=fact,
        residual=residual,
        source=source if isinstance(source, str) else "",
    )


def read_trace(fields: Fields, field: str, note_class: NoteClass | None) -> TraceLevel | None:
    """The trace level, which must fit the class: only omissions have one."""
    if note_class is None or note_class.is_omission:
        level = fields.choice(field, tuple(TraceLevel), optional=note_class is None)
        fitting = _LEVELS.get(note_class, ()) if note_class else ()
        if level is not None and fitting and level not in fitting:
            fields.fault(field, f"{level} does not fit class {note_class}: {' or '.join(fitting)}")
        return level
    if (given := fields.record.value.get(field)) is not None:
        shown = given if isinstance(given, str) else type_name(given)
        fields.fault(field, f"{shown} on a pair of class {note_class}: only omissions have a level")
    return None


def read_severity(fields: Fields, note_class: NoteClass | None) -> Severity | None:
    """The severity; null only for additions and changes."""
    if not fields.present("severity"):
        return None
    may_be_null = note_class is not None and note_class.is_commission
    return fields.choice("severity", tuple(Severity), optional=may_be_null)


def check_texts(fields: Fields, field: str, clean: str, errored: str) -> None:
    """Note a fault where the two notes of a pair are the same."""
    if clean == errored:
        fields.fault(field, "is the same text as its clean twin")
    elif clean.split() == errored.split():
        fields.fault(field, "differs from its clean twin in white space only")


def _check_type(fields: Fields, note_class: NoteClass | None) -> None:
    if "type" not in fields.record.value or note_class is None:
        return
    expected = "omit" if note_class.is_omission else str(note_class)
    if (given := fields.record.value["type"]) != expected:
        shown = repr(given) if isinstance(given, str) else type_name(given)
        fields.fault("type", f"{shown} does not fit class {note_class}: {expected!r}")


def _check_edit(fields: Fields, clean: str, errored: str) -> None:
    # Where the file states its edit it can be replayed. Without one nothing is concluded from the
    # texts: a fact stated in two places is removed by two edits, and the release has such pairs.
    edit = fields.record.value.get("edit")
    if edit is None:
        return
    if not isinstance(edit, dict):
        fields.fault("edit", f"an object is needed, not {type_name(edit)}")
        return
    start, end, after = (edit.get(key) for key in ("start", "end", "after"))
    if type(start) is not int or type(end) is not int or not isinstance(after, str):
        fields.fault("edit", "needs start and end (whole numbers) and after (text)")
    elif not 0 <= start <= end <= len(clean):
        fields.fault("edit", f"start {start} and end {end} do not lie in the clean note")
    elif clean[:start] + after + clean[end:] != errored:
        fields.fault("edit", "does not turn the clean note into the errored one")


def _residual(fields: Fields) -> tuple[Site, ...]:
    residual = fields.record.value.get("residual")
    if residual is None:
        return ()
    if not isinstance(residual, dict):
        fields.fault("residual", f"an object or null is needed, not {type_name(residual)}")
        return ()
    name = "verified_sites" if residual.get("verified_sites") else "sites"
    sites = residual.get(name) or []
    if not isinstance(sites, list):
        fields.fault(f"residual.{name}", f"a list is needed, not {type_name(sites)}")
        return ()
    return tuple(_site(fields, f"residual.{name}[{n}]", site) for n, site in enumerate(sites))


def _site(fields: Fields, field: str, site: Any) -> Site:
    if not isinstance(site, dict):
        fields.fault(field, f"an object is needed, not {type_name(site)}")
        return Site("", "", "")
    values = {}
    for key in ("quote", "section", "strength"):
        value = site.get(key)
        if value is None and key != "quote":
            value = ""
        elif not isinstance(value, str):
            fields.fault(f"{field}.{key}", f"text is needed, not {type_name(value)}")
        elif value and (problem := text_problem(value)):
            fields.fault(f"{field}.{key}", problem)
        values[key] = str(value)
    return Site(**values)
