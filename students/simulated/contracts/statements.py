"""The statement list: every statement of the note, supported or not."""

from __future__ import annotations

import json

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.matching import compare
from heldout.students.simulated.prompt import SeenPrompt
from heldout.students.simulated.working import Mind, objections


def answer(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"statements": [{"text": …, "supported": "yes" | "no"}]}`.

    Statements that the budget does not reach are taken to be supported.
    """
    seen = compare(prompt.transcript, prompt.note)
    found, spent = objections(mind, seen, mind.room)
    doubted = {id(support) for support in found}
    listed = [
        {"text": support.text, "supported": "no" if id(support) in doubted else "yes"}
        for support in seen.support
    ] or [{"text": prompt.note.strip()[:80] or "(empty note)", "supported": "yes"}]
    return Draft(json.dumps({"statements": listed}, ensure_ascii=False), spent)
