"""The keyed check: one verdict for every fact or item id.

The list is given, so every id costs a verdict and what the skills make of it; ids that the budget
does not reach are taken for recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.matching import sights_of
from heldout.students.simulated.phrasing import content_share, fact_from
from heldout.students.simulated.prompt import SeenPrompt
from heldout.students.simulated.reading import NoteReading, digest_of, read_note
from heldout.students.simulated.skills import Skill
from heldout.students.simulated.words import words_of
from heldout.students.simulated.working import Mind, check_fact

HELD = 0.8
"""Credit from which on a fact counts as recorded."""
_PARTLY = 0.3
"""Credit from which on it counts as recorded in part."""
_SAME_WORDS = 0.6
"""Share of a line's longer words that must stand in the note where no concept was read."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The outcome for one id: credit, and whether only another section than its own holds it."""

    credit: float
    misplaced: bool = False


def answer(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"verdicts": {id: word}}` in the words that the contract names."""
    word = _words_of(prompt.contract)
    looked, spent = look_up(prompt, mind)
    verdicts = {key: word(item) for key, item in looked.items()}
    return Draft(json.dumps({"verdicts": verdicts}, ensure_ascii=False), spent)


def _words_of(contract: str) -> Callable[[Looked], str]:
    if '"full"' in contract:
        return _graded
    if '"misplaced"' in contract:
        return _placed
    if '"yes"' in contract:
        return lambda looked: "yes" if looked.credit >= HELD else "no"
    return lambda looked: "present" if looked.credit >= HELD else "absent"


def _graded(looked: Looked) -> str:
    if looked.credit >= HELD:
        return "full"
    return "partial" if looked.credit >= _PARTLY else "absent"


def _placed(looked: Looked) -> str:
    if looked.credit >= HELD:
        return "present"
    return "misplaced" if looked.misplaced and looked.credit > 0 else "absent"


def look_up(prompt: SeenPrompt, mind: Mind) -> tuple[dict[str, Looked], float]:
    """Outcomes by id, in the order asked, and the tokens that the looking cost."""
    note = read_note(prompt.note)
    prices = mind.effects.prices
    each = prices.verdict * mind.scale.price + mind.check_price - prices.checking
    reached = int(mind.room / each)
    sheet = digest_of("\n".join(text for _, text in prompt.facts))
    looked = {
        key: _look(text, prompt.note, note, mind, sheet) if place < reached else Looked(1.0)
        for place, (key, text) in enumerate(prompt.facts)
    }
    return looked, min(reached, len(looked)) * each


def _look(text: str, written: str, note: NoteReading, mind: Mind, sheet: str) -> Looked:
    fact = fact_from(text)
    if fact is None:
        return Looked(float(content_share(text, words_of(written)) >= _SAME_WORDS))
    key = f"{sheet}/{fact.key[0]}/{fact.key[1]}"
    sights = sights_of(fact, note)
    checked = check_fact(mind, fact, sights, key, note.digest)
    elsewhere = bool(sights) and not any(sight.placed for sight in sights)
    return Looked(checked.credit, elsewhere and mind.holds(Skill.PLACEMENT, key))
