"""Extraction contracts: what was said, from the transcript alone.

Their instructions belong to the frame and do not evolve, so no skill acts on them.
"""

from __future__ import annotations

import json

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.phrasing import detail_texts, fact_text
from heldout.students.simulated.prompt import SeenPrompt
from heldout.students.simulated.reading import SEVERITIES, ReadFact, read_transcript
from heldout.students.simulated.sections import SECTION_NAMES
from heldout.students.simulated.working import Mind

_ITEMS = 25


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
