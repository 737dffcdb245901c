"""Single edits of a note: what can be removed, added or changed, and what each leaves behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from heldout.splits.benchmark import NoteClass, Severity, Site, TraceLevel
from heldout.splits.randomness import choice, shuffled, uniform
from heldout.splits.synthetic.notes import Statement, layout_of, statement, statements_of
from heldout.splits.synthetic.sheets import Fact, Path, Sheet, detail_choices

POLARITY = "polarity"

_DETAIL_SEVERITY = {
    **dict.fromkeys(("dose", "frequency", "reaction", "action", "urgency", "which"), "critical"),
    **dict.fromkeys(("side", "duration", "course", "years", "relation", "timing"), "supporting"),
    **dict.fromkeys(("pattern", "channel"), "peripheral"),
}
_RANK = {"critical": 0, "supporting": 1, "peripheral": 2}

# How the kinds of change are preferred, so that no skill of a judge is without pairs that need
# it; few notes offer a side or a dose to change, hence the weight of those.
_CHANGES = {POLARITY: 0.17, "laterality": 0.37, "hedge": 0.13, "dosing": 0.18, "other": 0.15}
_FAMILY = {
    POLARITY: POLARITY,
    "side": "laterality",
    "which": "laterality",
    "sure": "hedge",
    "hedge": "hedge",
    "dose": "dosing",
    "frequency": "dosing",
}


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of the clean note.

    `fact` is the fact as the transcript has it (for an addition: as the note claims it), `claim`
    what the edited statement says instead (changes and additions), `attr` the attribute removed or
    changed. `statements` are the sentences of the edited note, `sites` what survives in it.
    """

    note_class: NoteClass
    trace: TraceLevel | None
    severity: Severity
    fact: Fact
    claim: Fact | None
    attr: str | None
    removed: tuple[Statement, ...]
    inserted: tuple[Statement, ...]
    statements: tuple[Statement, ...]
    sites: tuple[Site, ...] = ()

    @property
    def fact_type(self) -> str:
        """The kind of fact, with the attribute where only that was edited."""
        name = self.fact.slot.kind.name
        return f"{name}, {self.attr}" if self.attr else name

    @property
    def description(self) -> str:
        """What was removed, added or altered, in the note's own words."""
        before = " ".join(item.text for item in self.removed)
        after = " ".join(item.text for item in self.inserted)
        if self.note_class is NoteClass.ADD:
            return f"added, never said: {after}"
        if self.note_class is NoteClass.CHANGE:
            return f"{self.attr} altered: «{before}» now reads «{after}»"
        if self.trace is TraceLevel.PARTIAL_WEAK:
            return f"{self.attr} left out of: {before}"
        return before


Draft = tuple[NoteClass, TraceLevel | None]


def clean_statements(sheet: Sheet) -> tuple[Statement, ...]:
    """The sentences of the unedited note, in order."""
    return tuple(item for fact in sheet.facts for item in statements_of(fact, sheet))


def wanted(sheet: Sheet) -> tuple[Draft, ...]:
    """Three to six edits to make, at least one omission of each kind and one commission."""
    path = (*sheet.path, "wanted")
    partial = shuffled((TraceLevel.PARTIAL_WEAK, TraceLevel.PARTIAL_STRONG), *path, "partial")
    commission = shuffled((NoteClass.ADD, NoteClass.CHANGE), *path, "commission")
    drafts: list[Draft] = [
        (NoteClass.OMIT_COMPLETE, TraceLevel.COMPLETE),
        (NoteClass.OMIT_PARTIAL, partial[0]),
        (commission[0], None),
        (commission[1], None),
        (NoteClass.OMIT_PARTIAL, partial[1]),
        (NoteClass.OMIT_COMPLETE, TraceLevel.COMPLETE),
    ]
    return tuple(drafts[: 3 + int(uniform(*path, "count") * 4)])


def candidates(draft: Draft, sheet: Sheet, path: Path) -> Iterator[Edit]:
    """Edits of the drafted sort in random order; none when the sheet offers none."""
    note_class, trace = draft
    pool = sheet.left_out if note_class is NoteClass.ADD else sheet.facts
    for fact in shuffled(pool, *path, "facts"):
        here = (*path, fact.slot.id)
        if fact.slot.kind.name == "problem" and trace is not TraceLevel.PARTIAL_WEAK:
            # The reason for the visit stands in every note: only its details may be edited.
            continue
        edit: Edit | None = None
        if note_class is NoteClass.ADD:
            edit = addition(fact, sheet)
        elif note_class is NoteClass.CHANGE:
            continue
        elif trace is TraceLevel.PARTIAL_WEAK:
            edit = detail_removal(fact, sheet, here)
        else:
            edit = removal(fact, sheet, trace)
        if edit is not None:
            yield edit
    if note_class is NoteClass.CHANGE:
        yield from _changes(sheet, path)


def removal(fact: Fact, sheet: Sheet, trace: TraceLevel | None) -> Edit | None:
    """Take a fact out: wholly where it stands once, its main statement where it stands twice."""
    twice = len(fact.parts) == 2
    if twice is not (trace is TraceLevel.PARTIAL_STRONG):
        return None
    gone = statement(fact, fact.parts[0], sheet)
    sites = ()
    if twice:
        left = statement(fact, "second", sheet)
        sites = (_site(left, sheet, "strong"),)
    clean = clean_statements(sheet)
    return Edit(
        note_class=NoteClass.OMIT_PARTIAL if twice else NoteClass.OMIT_COMPLETE,
        trace=trace,
        severity=Severity(fact.slot.severity),
        fact=fact,
        claim=None,
        attr=None,
        removed=(gone,),
        inserted=(),
        statements=tuple(item for item in clean if item != gone),
        sites=sites,
    )


def detail_removal(fact: Fact, sheet: Sheet, path: Path) -> Edit | None:
    """Take one known detail out of a fact that stands once; its topic stays."""
    shown = [attr for attr in sorted(fact.known) if _shows(fact, attr)]
    if len(fact.parts) != 1 or not shown:
        return None
    attr = choice(shown, *path, "attr")
    bare = replace(fact, known=fact.known - {attr})
    before, after = statement(fact, fact.parts[0], sheet), statement(bare, fact.parts[0], sheet)
    grade = max(_DETAIL_SEVERITY[attr], fact.slot.severity, key=_RANK.__getitem__)
    return Edit(
        note_class=NoteClass.OMIT_PARTIAL,
        trace=TraceLevel.PARTIAL_WEAK,
        severity=Severity(grade),
        fact=fact,
        claim=None,
        attr=attr,
        removed=(before,),
        inserted=(after,),
        statements=_swapped(sheet, before, after),
        sites=(_site(after, sheet, "weak"),),
    )


def addition(fact: Fact, sheet: Sheet) -> Edit | None:
    """State a fact that never came up, in its own place, as a note of this complaint would."""
    claim = replace(fact, parts=fact.parts[:1])
    new = statement(claim, claim.parts[0], sheet)
    facts = sorted((*sheet.facts, claim), key=lambda item: sheet.order.index(item.slot.id))
    return Edit(
        note_class=NoteClass.ADD,
        trace=None,
        severity=Severity(fact.slot.severity),
        fact=claim,
        claim=claim,
        attr=None,
        removed=(),
        inserted=(new,),
        statements=tuple(item for each in facts for item in statements_of(each, sheet)),
    )


def change(fact: Fact, attr: str, sheet: Sheet, path: Path) -> Edit | None:
    """Alter one attribute, or the polarity, of a fact that stands once."""
    claim = _altered(fact, attr, path)
    if claim is None:
        return None
    before, after = statement(fact, fact.parts[0], sheet), statement(claim, fact.parts[0], sheet)
    critical = _DETAIL_SEVERITY.get(attr) == "critical" or attr == "side"
    return Edit(
        note_class=NoteClass.CHANGE,
        trace=None,
        severity=Severity.CRITICAL if critical else Severity(fact.slot.severity),
        fact=fact,
        claim=claim,
        attr=attr,
        removed=(before,),
        inserted=(after,),
        statements=_swapped(sheet, before, after),
    )


def _changes(sheet: Sheet, path: Path) -> Iterator[Edit]:
    """Changes, the family of change drawn first; every changeable attribute comes up once."""
    options: dict[str, list[tuple[Fact, str]]] = {}
    for fact in sheet.facts:
        if len(fact.parts) == 1:
            for attr in _changeable(fact):
                options.setdefault(_FAMILY.get(attr, "other"), []).append((fact, attr))
    for family in _weighted_order(_CHANGES, (*path, "family")):
        for fact, attr in shuffled(options.get(family, []), *path, family):
            edit = change(fact, attr, sheet, (*path, fact.slot.id, attr))
            if edit is not None:
                yield edit


def _weighted_order(weights: Mapping[str, float], path: Path) -> list[str]:
    """A random order in which heavier items tend to come first (exponential keys)."""
    return sorted(weights, key=lambda name: -(uniform(*path, name) ** (1 / weights[name])))


def _changeable(fact: Fact) -> list[str]:
    kind = fact.slot.kind
    if kind.name == "problem":
        return sorted(fact.known)
    names = [attr for attr in sorted(fact.known) if _shows(fact, attr)]
    if kind.no is not None:
        names.append(POLARITY)
    if fact.affirmed and kind.hedged:
        names.append(kind.hedged)
    if fact.affirmed and len(fact.slot.values) > 1:
        names.append("value")
    return names


def _altered(fact: Fact, attr: str, path: Path) -> Fact | None:
    if attr == POLARITY:
        return replace(fact, affirmed=not fact.affirmed)
    value, kind = fact.attrs["value"], fact.slot.kind
    options = fact.slot.values if attr == "value" else detail_choices(attr, value, kind.group)
    others = [name for name in options if name != fact.attrs[attr]]
    if not others:
        return None
    attrs = {**fact.attrs, attr: choice(others, *path, "other")}
    if attr == "value":
        # Another drug comes in its own doses, another trigger calls for its own action.
        for name in fact.slot.details:
            fitting = detail_choices(name, attrs["value"], kind.group)
            if name in attrs and attrs[name] not in fitting:
                if not fitting:
                    return None
                attrs[name] = choice(fitting, *path, name)
    return replace(fact, attrs=attrs)


def _shows(fact: Fact, attr: str) -> bool:
    """True if the note words this detail: a denied fact has none, a restatement only some."""
    return fact.affirmed and (fact.parts[0] == "primary" or attr in fact.kept)


def _swapped(sheet: Sheet, before: Statement, after: Statement) -> tuple[Statement, ...]:
    return tuple(after if item == before else item for item in clean_statements(sheet))


def _site(item: Statement, sheet: Sheet, strength: str) -> Site:
    return Site(item.text, layout_of(sheet).headings[item.section].rstrip(":"), strength)
