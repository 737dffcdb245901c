"""Contracts about single facts: extraction, audit, the keyed check, the second look.

Extraction and audit see the transcript alone. Only the check's instructions evolve, so no skill
acts on the other three.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from heldout.students.simulated.lexicon import WORDS
from heldout.students.simulated.matching import sights_of
from heldout.students.simulated.phrasing import content_share, detail_texts, fact_from, fact_text
from heldout.students.simulated.prompt import Draft, SeenPrompt
from heldout.students.simulated.reading import (
    SEVERITIES,
    NoteReading,
    ReadFact,
    digest_of,
    read_note,
    read_transcript,
)
from heldout.students.simulated.sections import SECTION_NAMES
from heldout.students.simulated.skills import Skill
from heldout.students.simulated.words import words_of
from heldout.students.simulated.working import Mind, check_fact

_ITEMS = 25
_TRIVIAL = WORDS.read("trivial", frozenset[str])
"""Concepts that say little by themselves."""


def facts(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"facts": [{"text": …, "evidence": …}]}`, with the section where it is asked for."""
    del mind
    read = read_transcript(prompt.transcript).facts
    if "smallest statements" in prompt.block:
        return _draft("facts", [row for fact in read for row in _split(fact)])
    placed = '"section"' in prompt.contract
    return _draft("facts", [_row(fact, placed=placed) for fact in read])


def items(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"items": [{"text": …, "evidence": …}]}`: the 25 weightiest facts."""
    del mind
    read = read_transcript(prompt.transcript).facts
    weighty = sorted(read, key=lambda fact: SEVERITIES.index(fact.severity))[:_ITEMS]
    return _draft("items", [_row(fact, placed=False) for fact in weighty])


def _row(fact: ReadFact, *, placed: bool) -> dict[str, str]:
    row = {"text": fact_text(fact), "evidence": fact.evidence}
    return row | {"section": SECTION_NAMES[fact.home]} if placed else row


def _split(fact: ReadFact) -> list[dict[str, str]]:
    """The fact without its details, and each detail by itself."""
    return [{"text": text, "evidence": fact.evidence} for text in detail_texts(fact)]


def _draft(field: str, rows: list[dict[str, str]]) -> Draft:
    nothing = [{"text": "nothing of clinical relevance was said", "evidence": ""}]
    return Draft(json.dumps({field: rows or nothing}, ensure_ascii=False), 0.0)


def audit(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"grades": {id: grade}}`; the instructions do not evolve, so no skill acts on them."""
    del mind
    said = read_transcript(prompt.transcript)
    grades: dict[str, str] = {}
    seen: set[tuple[str, str, frozenset[tuple[str, frozenset[str]]]]] = set()
    for key, text in prompt.facts:
        fact = fact_from(text)
        if fact is None:
            grades[key] = "supporting"
            continue
        identity = (*fact.key, frozenset(fact.details.items()))
        if fact.name not in said.concepts:
            grades[key] = "unsupported"
        elif identity in seen:
            grades[key] = "duplicate"
        elif fact.name in _TRIVIAL and not fact.details:
            grades[key] = "trivial"
        else:
            grades[key] = fact.severity
        seen.add(identity)
    return Draft(json.dumps({"grades": grades}, ensure_ascii=False), 0.0)


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


def check(prompt: SeenPrompt, mind: Mind) -> Draft:
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


_SHORTEST = 8


def second_look(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"quotes": {id: words | null}}`: whoever looks again for one fact knows its other names."""
    del mind  # the instructions do not evolve, so no skill acts on them
    note = read_note(prompt.note)
    quotes = {key: _quote(text, prompt.note, note) for key, text in prompt.facts}
    return Draft(json.dumps({"quotes": quotes}, ensure_ascii=False), 0.0)


def _quote(text: str, written: str, note: NoteReading) -> str | None:
    fact = fact_from(text)
    for mention, _ in note.mentions.get(fact.key, ()) if fact else ():
        if fact is not None and mention.negated in fact.denials:
            return _widened(written, mention.start, mention.end)
    return None


def _widened(text: str, start: int, end: int) -> str | None:
    """The words at [start, end), with as much of their line as makes eight characters."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    while end - start < _SHORTEST and end < line_end:
        end += 1
    while end - start < _SHORTEST and start > line_start:
        start -= 1
    quote = text[start:end].strip()
    return quote if len(quote) >= _SHORTEST else None
