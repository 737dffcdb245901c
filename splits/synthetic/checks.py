"""What an errored note must satisfy, checked on the rendered texts; what fails is dropped."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.splits.benchmark import NoteClass, TraceLevel
from heldout.splits.synthetic.changes import POLARITY
from heldout.splits.synthetic.difference import TextDifference
from heldout.splits.synthetic.edits import Edit
from heldout.splits.synthetic.notes import NoteStatement
from heldout.splits.synthetic.sheets import SheetFact
from heldout.splits.synthetic.surface import forms_of, mention

MOST_WORDS = 30
"""Most words that one edit may remove or insert."""

NEARBY = 70
"""Characters on either side of a mention within which a detail is read as belonging to it."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The texts of one pair."""

    transcript: str
    clean: str
    errored: str
    difference: TextDifference


def core(fact: SheetFact) -> tuple[str, ...]:
    """Words that give the fact away: forms of what it is about, and its kind's topic words."""
    if "measure" in fact.attrs:
        return forms_of(fact, "measure")
    silent = not fact.affirmed and fact.slot.kind.topic and len(fact.slot.values) > 1
    return (() if silent else forms_of(fact, "value")) + fact.slot.kind.topic


def fault_of(edit: Edit, texts: Rendered, clean: tuple[NoteStatement, ...]) -> str | None:
    """Why this pair must be dropped; None if it stands. `clean` are the sentences of its twin."""
    by_class = {NoteClass.ADD: _addition_fault, NoteClass.CHANGE: _change_fault}
    of_its_class = by_class.get(edit.note_class, _omission_fault)
    return _edit_fault(texts) or _collateral_fault(edit, texts, clean) or of_its_class(edit, texts)


def unsupported(facts: tuple[SheetFact, ...], transcript: str, note: str) -> list[str]:
    """Ids of slots whose fact cannot be found in the transcript or in the clean note."""
    missing = []
    for fact in facts:
        pattern = mention(core(fact))
        if not (pattern.search(transcript) and pattern.search(note)):
            missing.append(fact.slot.id)
    return missing


def _edit_fault(texts: Rendered) -> str | None:
    difference = texts.difference
    if texts.clean == texts.errored or difference.apply(texts.clean) != texts.errored:
        return "not exactly one visible edit"
    longest = max(len(difference.before.split()), len(difference.after.split()))
    return "edit too long" if longest > MOST_WORDS else None


def _collateral_fault(edit: Edit, texts: Rendered, clean: tuple[NoteStatement, ...]) -> str | None:
    """A fault if a sentence of the clean note that was not edited is gone from the errored one."""
    kept = [item.text for item in clean if item != edit.removed]
    lost = any(texts.errored.count(text) < kept.count(text) for text in kept)
    return "another fact lost" if lost else None


def _omission_fault(edit: Edit, texts: Rendered) -> str | None:
    found = mention(core(edit.fact)).search(texts.errored)
    if edit.trace is TraceLevel.COMPLETE:
        return "removed fact still mentioned" if found else None
    quotes = [site.quote for site in edit.sites]
    if not quotes or not all(quote in texts.errored for quote in quotes):
        return "labelled trace not in the note"
    if not all(mention(core(edit.fact)).search(quote) for quote in quotes):
        return "trace does not name the fact"
    if edit.trace is TraceLevel.PARTIAL_WEAK and edit.attr is not None:
        detail = mention(forms_of(edit.fact, edit.attr))
        if any(detail.search(quote) for quote in quotes):
            return "removed detail still stated"
    return None


def _addition_fault(edit: Edit, texts: Rendered) -> str | None:
    pattern = mention(core(edit.fact))
    if pattern.search(texts.transcript):
        return "addition touches the transcript"
    if pattern.search(texts.clean):
        return "addition already in the note"
    return None


def _change_fault(edit: Edit, texts: Rendered) -> str | None:
    claim, attr = edit.claim, edit.attr
    if claim is None or attr is None or attr in (POLARITY, "sure", "hedge"):
        return None
    if attr == "value":
        supported = mention(forms_of(claim, "value")).search(texts.transcript)
        return "changed value is in the transcript" if supported else None
    detail = mention(forms_of(claim, attr))
    for hit in mention(core(edit.fact)).finditer(texts.transcript):
        around = texts.transcript[max(0, hit.start() - NEARBY) : hit.end() + NEARBY]
        if detail.search(around):
            return "changed detail is in the transcript"
    return None
