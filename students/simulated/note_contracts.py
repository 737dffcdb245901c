"""Contracts about the whole note: a score, gaps, statements, or one word.

Each takes the parts of a prompt and what the block makes of the judge, and drafts the reply.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from heldout.students.simulated.matching import compare
from heldout.students.simulated.phrasing import fact_text
from heldout.students.simulated.prompt import Draft, SeenPrompt
from heldout.students.simulated.reading import ReadFact
from heldout.students.simulated.skills import Skill
from heldout.students.simulated.working import Mind, Worked, objections, points, work

_REMARKS = 8
"""Lines of working that are written out of each kind."""


@dataclass(frozen=True, slots=True)
class JudgedNote:
    """What the judge worked out, its score from 0 to 10, and the transcript's digest."""

    worked: Worked
    points: float
    transcript: str

    @property
    def lost(self) -> tuple[ReadFact, ...]:
        """Facts that the judge found missing or wrong."""
        return (
            *(checked.fact for checked in self.worked.facts if checked.credit < 0.5),
            *self.worked.salient,
        )


def judged(prompt: SeenPrompt, mind: Mind) -> JudgedNote:
    """Judge the note of `prompt`; a list of facts in it need not be written first."""
    seen = compare(prompt.transcript, prompt.note)
    worked = work(mind, seen, given=bool(prompt.facts))
    digest = seen.transcript.digest
    return JudgedNote(worked, points(mind, worked, digest), digest)


def whole_note(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"assessment": …, "score": 0..10}`."""
    found = judged(prompt, mind)
    verdict = json.dumps(
        {"assessment": assessment(found.worked), "score": found.points}, ensure_ascii=False
    )
    return Draft("\n".join([*remarks(found.worked), verdict]), found.worked.tokens)


def assessment(worked: Worked) -> str:
    """What was found, in a sentence or two."""
    lost = [checked.fact.said for checked in worked.facts if checked.credit < 0.5]
    lost += [fact.said for fact in worked.salient]
    missing = f"Not recorded as said: {', '.join(lost[:4])}." if lost else ""
    objections = f"Statements without support: {len(worked.findings)}." if worked.findings else ""
    return " ".join(part for part in (missing, objections) if part) or "Nothing wrong was found."


def remarks(worked: Worked) -> list[str]:
    """The working: what was looked up and what was objected to."""
    lines = []
    if worked.facts or worked.listed:
        lines.append(f"Facts listed: {worked.listed}, looked up: {len(worked.facts)}.")
    short = [checked for checked in worked.facts if checked.credit < 1.0]
    lines += [f"- {c.fact.said}: {c.remark}" for c in short[:_REMARKS]]
    lines += [f"- unsupported: {finding.text}" for finding in worked.findings[:_REMARKS]]
    return lines


def gap_list(prompt: SeenPrompt, mind: Mind) -> Draft:
    """`{"missing": [{"item": …, "severity": …}], "score": 0..10}`."""
    found = judged(prompt, mind)
    missing = [{"item": fact_text(fact), "severity": fact.severity} for fact in found.lost]
    text = json.dumps({"missing": missing, "score": found.points}, ensure_ascii=False)
    return Draft(text, found.worked.tokens)


def statements(prompt: SeenPrompt, mind: Mind) -> Draft:
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
