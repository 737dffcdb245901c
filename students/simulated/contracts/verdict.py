"""Contracts that want one word: yes or no, pass or fail; and the five-point scale."""

from __future__ import annotations

import json

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.contracts.whole_note import (
    JudgedNote,
    assessment,
    judged,
    remarks,
)
from heldout.students.simulated.prompt import SeenPrompt
from heldout.students.simulated.skills import Skill
from heldout.students.simulated.working import Mind


def yes_no(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"assessment": …, "answer": "yes" | "no"}`: yes if nothing was found."""
    found = judged(prompt, mind)
    word = "yes" if _clean(found) else "no"
    verdict = json.dumps(
        {"assessment": assessment(found.worked), "answer": word}, ensure_ascii=False
    )
    return Draft("\n".join([*remarks(found.worked), verdict]), found.worked.tokens)


def verdict_line(prompt: SeenPrompt, mind: Mind) -> Draft:
    """Prose, then `VERDICT: PASS` or `VERDICT: FAIL`: pass if nothing was found."""
    found = judged(prompt, mind)
    line = f"VERDICT: {'PASS' if _clean(found) else 'FAIL'}"
    text = "\n".join([*remarks(found.worked), assessment(found.worked), line])
    return Draft(text, found.worked.tokens)


def one_to_five(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"assessment": …, "score": 1..5}`: the score from 0 to 10 on the shorter scale."""
    found = judged(prompt, mind)
    step = 0.1 if mind.holds(Skill.FINE_SCORE, found.transcript) else 0.5
    score = round(round((1 + 0.4 * found.points) / step) * step, 1)
    verdict = json.dumps(
        {"assessment": assessment(found.worked), "score": score}, ensure_ascii=False
    )
    return Draft("\n".join([*remarks(found.worked), verdict]), found.worked.tokens)


def _clean(found: JudgedNote) -> bool:
    """True if no statement was objected to and no fact was found wanting."""
    worked = found.worked
    return not (worked.findings or worked.salient or any(c.credit < 0.5 for c in worked.facts))
