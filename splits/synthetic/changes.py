"""Changes: one attribute of a stated fact, or its polarity, drawn anew from the slot's own values.

Only facts that stand once are changed, so no errored note contradicts itself. Affirmed and denied
facts are equally common, and every value of a pool, so a changed note holds nothing unusual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from heldout.splits.benchmark import NoteClass, Severity
from heldout.splits.randomness import choice, shuffled, uniform
from heldout.splits.synthetic.edits import DETAIL_SEVERITY, Edit, shows, swapped
from heldout.splits.synthetic.notes import statement
from heldout.splits.synthetic.sheets import Path, Sheet, SheetFact, detail_choices

POLARITY = "polarity"

# How the sorts of change are preferred, so that no skill of a judge is without pairs that need it;
# few notes offer a side or a dose to change, hence the weight of those.
_WEIGHTS = {POLARITY: 0.17, "laterality": 0.37, "hedge": 0.13, "dosing": 0.18, "other": 0.15}
_SORTS = {
    POLARITY: POLARITY,
    "side": "laterality",
    "which": "laterality",
    "sure": "hedge",
    "hedge": "hedge",
    "dose": "dosing",
    "frequency": "dosing",
}


def changes(sheet: Sheet, path: Path) -> Iterator[Edit]:
    """Every possible change, in random order, the sort of change drawn first."""
    options: dict[str, list[tuple[SheetFact, str]]] = {}
    for fact in sheet.facts:
        if len(fact.parts) == 1:
            for attr in _changeable(fact):
                options.setdefault(_SORTS.get(attr, "other"), []).append((fact, attr))
    for sort in _weighted_order(_WEIGHTS, (*path, "sort")):
        for fact, attr in shuffled(options.get(sort, []), *path, sort):
            claim = _altered(fact, attr, (*path, fact.slot.id, attr))
            if claim is not None:
                yield _change(fact, claim, attr, sheet)


def _change(fact: SheetFact, claim: SheetFact, attr: str, sheet: Sheet) -> Edit:
    before, after = statement(fact, fact.parts[0], sheet), statement(claim, fact.parts[0], sheet)
    critical = attr == "side" or DETAIL_SEVERITY.get(attr) == "critical"
    return Edit(
        note_class=NoteClass.CHANGE,
        severity=Severity.CRITICAL if critical else Severity(fact.slot.severity),
        fact=fact,
        claim=claim,
        attr=attr,
        removed=before,
        inserted=after,
        statements=swapped(sheet, before, after),
    )


def _weighted_order(weights: Mapping[str, float], path: Path) -> list[str]:
    """A random order in which heavier items tend to come first (Efraimidis and Spirakis 2006)."""
    return sorted(weights, key=lambda name: -(uniform(*path, name) ** (1 / weights[name])))


def _changeable(fact: SheetFact) -> list[str]:
    kind = fact.slot.kind
    names = [attr for attr in sorted(fact.known) if shows(fact, attr)]
    if kind.no is not None:
        names.append(POLARITY)
    if fact.affirmed and kind.hedged:
        names.append(kind.hedged)
    if fact.affirmed and len(fact.slot.values) > 1:
        names.append("value")
    return names


def _altered(fact: SheetFact, attr: str, path: Path) -> SheetFact | None:
    """`fact` with another value of `attr`; None where it has no other."""
    if attr == POLARITY:
        return replace(fact, affirmed=not fact.affirmed)
    value, kind = fact.attrs["value"], fact.slot.kind
    options = fact.slot.values if attr == "value" else detail_choices(attr, value, kind.group)
    others = [name for name in options if name != fact.attrs[attr]]
    if not others:
        return None
    attrs = {**fact.attrs, attr: choice(others, *path, "other")}
    for name in fact.slot.details if attr == "value" else ():
        # Another drug comes in its own doses, another trigger calls for its own action.
        fitting = detail_choices(name, attrs["value"], kind.group)
        if name in attrs and attrs[name] not in fitting:
            if not fitting:
                return None
            attrs[name] = choice(fitting, *path, name)
    return replace(fact, attrs=attrs)
