"""The clinical note: statements of the facts under headings, and the text they make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from heldout.splits.randomness import choice, uniform
from heldout.splits.synthetic.catalogue import catalogue
from heldout.splits.synthetic.sheets import Sheet, SheetFact
from heldout.splits.synthetic.surface import fill, wording_of


@dataclass(frozen=True, slots=True)
class NoteStatement:
    """One sentence of a note: the fact's slot, which of its places this is, section and words."""

    slot: str
    part: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class NoteLayout:
    """How a consultation's notes look: section order, headings, and what joins sentences."""

    order: tuple[str, ...]
    headings: dict[str, str]
    join: str
    gap: str


def layout_of(sheet: Sheet) -> NoteLayout:
    """The look shared by all notes of the consultation."""
    manner, path = catalogue().manner, (*sheet.path, "layout")
    order = choice(manner.orders, *path, "order")
    variants = manner.headings[sheet.style]
    lines = uniform(*path, "lines") < 0.5
    return NoteLayout(
        order=order,
        headings={name: choice(variants[name], *path, name) for name in order},
        join="\n" if lines else " ",
        gap="\n\n" if sheet.style == "full" else "\n",
    )


def statements_of(fact: SheetFact, sheet: Sheet) -> tuple[NoteStatement, ...]:
    """The sentences that state `fact` in a note of this consultation."""
    return tuple(statement(fact, part, sheet) for part in fact.parts)


def statement(fact: SheetFact, part: str, sheet: Sheet) -> NoteStatement:
    """One sentence: `primary` where the fact belongs, `second` under its other heading."""
    kind, wording = fact.slot.kind, wording_of(fact)
    here = (*sheet.path, "note", fact.slot.id, part)
    if part == "primary":
        templates = wording.terse if sheet.style == "terse" else wording.full
        text = fill(choice(templates, *here), fact, "clinical", fact.known, here)
        return NoteStatement(fact.slot.id, part, kind.section, text)
    kept = replace(
        fact,
        attrs={k: v for k, v in fact.attrs.items() if k not in fact.slot.details or k in fact.kept},
    )
    text = fill(choice(wording.again, *here), kept, "clinical", fact.known & fact.kept, here)
    return NoteStatement(fact.slot.id, part, kind.second, text)


def note_text(statements: Iterable[NoteStatement], layout: NoteLayout) -> str:
    """The note; a heading stands only where a statement follows."""
    by_section: dict[str, list[str]] = {}
    for item in statements:
        by_section.setdefault(item.section, []).append(item.text)
    return layout.gap.join(
        f"{layout.headings[section]}\n{layout.join.join(by_section[section])}"
        for section in layout.order
        if section in by_section
    )
