"""The gap list: what is missing, graded, and a score."""

from __future__ import annotations

import json

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.contracts.whole_note import judged
from heldout.students.simulated.phrasing import fact_text
from heldout.students.simulated.prompt import SeenPrompt
from heldout.students.simulated.working import Mind


def answer(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"missing": [{"item": …, "severity": …}], "score": 0..10}`."""
    found = judged(prompt, mind)
    missing = [{"item": fact_text(fact), "severity": fact.severity} for fact in found.lost]
    text = json.dumps({"missing": missing, "score": found.points}, ensure_ascii=False)
    return Draft(text, found.worked.tokens)
