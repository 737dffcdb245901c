"""The audit: every fact of a list graded, or dropped with a reason."""

from __future__ import annotations

import json

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.phrasing import fact_from
from heldout.students.simulated.prompt import SeenPrompt
from heldout.students.simulated.reading import read_transcript
from heldout.students.simulated.working import Mind

_TRIVIAL = frozenset(("pain", "better", "worse", "accident", "thyroid disease", "cream"))
"""Concepts that say little by themselves."""


def answer(prompt: SeenPrompt, mind: Mind) -> Draft:
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
