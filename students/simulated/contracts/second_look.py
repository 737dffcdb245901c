"""The second look: the note's own words for facts that a first reader did not find."""

from __future__ import annotations

import json

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.phrasing import fact_from
from heldout.students.simulated.prompt import SeenPrompt
from heldout.students.simulated.reading import NoteReading, read_note
from heldout.students.simulated.working import Mind

_SHORTEST = 8


def answer(prompt: SeenPrompt, mind: Mind) -> Draft:
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
