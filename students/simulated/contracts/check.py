"""The keyed check: one verdict for every fact id."""

from __future__ import annotations

import json
from dataclasses import dataclass

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.matching import sights_of
from heldout.students.simulated.phrasing import content_share, fact_from
from heldout.students.simulated.prompt import Prompt
from heldout.students.simulated.reading import NoteReading, digest_of, read_note
from heldout.students.simulated.words import words_of
from heldout.students.simulated.working import CheckedFact, Mind, check_fact

HELD = 0.8
"""Credit from which on a fact counts as present."""

_SAME_WORDS = 0.6
"""Share of a line's longer words that must stand in the note where no concept was read."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The outcome for one id."""

    id: str
    credit: float


def answer(prompt: Prompt, mind: Mind) -> Draft:
    """Present or absent for every id, as far as the budget goes.

    The listing is given, so every fact costs a verdict and what the skills make of it; facts that
    the budget does not reach are taken for present.
    """
    looked, spent = look_up(prompt, mind)
    verdicts = {item.id: "present" if item.credit >= HELD else "absent" for item in looked}
    return Draft(json.dumps({"verdicts": verdicts}, ensure_ascii=False), spent)


def look_up(prompt: Prompt, mind: Mind) -> tuple[list[Looked], float]:
    """Credits by id, in the order asked, and the tokens that the looking cost."""
    note = read_note(prompt.note)
    prices = mind.effects.prices
    each = prices.verdict * mind.scale.price + mind.check_price - prices.checking
    reached = int(mind.room / each)
    sheet = digest_of("\n".join(text for _, text in prompt.facts))
    found = [
        Looked(key, _credit(text, prompt.note, note, mind, sheet) if place < reached else 1.0)
        for place, (key, text) in enumerate(prompt.facts)
    ]
    return found, min(reached, len(found)) * each


def _credit(text: str, written: str, note: NoteReading, mind: Mind, sheet: str) -> float:
    fact = fact_from(text)
    if fact is None:
        return 1.0 if content_share(text, words_of(written)) >= _SAME_WORDS else 0.0
    key = f"{sheet}/{fact.key[0]}/{fact.key[1]}"
    checked: CheckedFact = check_fact(mind, fact, sights_of(fact, note), key, note.digest)
    return checked.credit
