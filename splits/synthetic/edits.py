"""A single edit of a note, and the edits that take out or put in a statement or a detail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout.splits.benchmark import NoteClass, Severity, Site, TraceLevel
from heldout.splits.randomness import choice
from heldout.splits.synthetic.notes import NoteStatement, layout_of, statement, statements_of
from heldout.splits.synthetic.sheets import Path, Sheet, SheetFact

DETAIL_SEVERITY = {
    **dict.fromkeys(("dose", "frequency", "reaction", "action", "urgency", "which"), "critical"),
    **dict.fromkeys(("side", "duration", "course", "years", "relation", "timing"), "supporting"),
    **dict.fromkeys(("pattern", "channel"), "peripheral"),
}
"""How much a detail matters by itself; a detail never matters more than its fact."""

_RANK = {"critical": 0, "supporting": 1, "peripheral": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One edit of the clean note.

    `fact` is the fact as it is (for an addition: as the note claims it), `claim` what the errored
    note says instead, None for omissions. `attr` is the attribute removed or changed, None where a
    whole statement goes or comes. `statements` are the sentences of the errored note, `sites` what
    survives in it of a removed fact.
    """

    note_class: NoteClass
    severity: Severity
    fact: SheetFact
    statements: tuple[NoteStatement, ...]
    trace: TraceLevel | None = None
    claim: SheetFact | None = None
    attr: str | None = None
    removed: NoteStatement | None = None
    inserted: NoteStatement | None = None
    sites: tuple[Site, ...] = ()

    @property
    def fact_type(self) -> str:
        """The kind of fact, with the attribute where only that was edited."""
        name = self.fact.slot.kind.name
        return f"{name}, {self.attr}" if self.attr else name

    @property
    def description(self) -> str:
        """What was removed, added or altered, in the note's own words."""
        before = self.removed.text if self.removed else ""
        after = self.inserted.text if self.inserted else ""
        if self.note_class is NoteClass.ADD:
            return f"added, never said: {after}"
        if self.note_class is NoteClass.CHANGE:
            return f"{self.attr} altered: «{before}» now reads «{after}»"
        return f"{self.attr} left out of: {before}" if self.attr else before


def clean_statements(sheet: Sheet) -> tuple[NoteStatement, ...]:
    """The sentences of the unedited note, in order."""
    return tuple(item for fact in sheet.facts for item in statements_of(fact, sheet))


def swapped(sheet: Sheet, before: NoteStatement, after: NoteStatement) -> tuple[NoteStatement, ...]:
    """The sentences of the unedited note with one exchanged."""
    return tuple(after if item == before else item for item in clean_statements(sheet))


def shows(fact: SheetFact, attr: str) -> bool:
    """True if the note words this detail: a denied fact has none, a restatement only some."""
    return fact.affirmed and (fact.parts[0] == "primary" or attr in fact.kept)


def removal(fact: SheetFact, sheet: Sheet, trace: TraceLevel) -> Edit | None:
    """Take a fact out: wholly where it stands once, its main statement where it stands twice."""
    twice = len(fact.parts) == 2
    if twice is not (trace is TraceLevel.PARTIAL_STRONG):
        return None
    gone = statement(fact, fact.parts[0], sheet)
    left = [statement(fact, part, sheet) for part in fact.parts[1:]]
    return Edit(
        note_class=NoteClass.OMIT_PARTIAL if twice else NoteClass.OMIT_COMPLETE,
        trace=trace,
        severity=Severity(fact.slot.severity),
        fact=fact,
        removed=gone,
        statements=tuple(item for item in clean_statements(sheet) if item != gone),
        sites=tuple(_site(item, sheet, "strong") for item in left),
    )


def detail_removal(fact: SheetFact, sheet: Sheet, path: Path) -> Edit | None:
    """Take one known detail out of a fact that stands once; its topic stays."""
    shown = [attr for attr in sorted(fact.known) if shows(fact, attr)]
    if len(fact.parts) != 1 or not shown:
        return None
    attr = choice(shown, *path, "attr")
    bare = replace(fact, known=fact.known - {attr})
    before, after = statement(fact, fact.parts[0], sheet), statement(bare, fact.parts[0], sheet)
    return Edit(
        note_class=NoteClass.OMIT_PARTIAL,
        trace=TraceLevel.PARTIAL_WEAK,
        severity=Severity(
            max(DETAIL_SEVERITY[attr], fact.slot.severity, key=_RANK.__getitem__),
        ),
        fact=fact,
        attr=attr,
        removed=before,
        inserted=after,
        statements=swapped(sheet, before, after),
        sites=(_site(after, sheet, "weak"),),
    )


def addition(fact: SheetFact, sheet: Sheet) -> Edit:
    """State a fact that never came up, in its own place, as a note of this complaint would."""
    claim = replace(fact, parts=fact.parts[:1])
    facts = sorted((*sheet.facts, claim), key=lambda item: sheet.order.index(item.slot.id))
    return Edit(
        note_class=NoteClass.ADD,
        severity=Severity(fact.slot.severity),
        fact=claim,
        claim=claim,
        inserted=statement(claim, claim.parts[0], sheet),
        statements=tuple(item for each in facts for item in statements_of(each, sheet)),
    )


def _site(item: NoteStatement, sheet: Sheet, strength: str) -> Site:
    return Site(item.text, layout_of(sheet).headings[item.section].rstrip(":"), strength)
