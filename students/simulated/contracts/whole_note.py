"""The whole-note contract: working, then a score with an assessment."""

from __future__ import annotations

import json
from dataclasses import dataclass

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.matching import compare
from heldout.students.simulated.prompt import SeenPrompt
from heldout.students.simulated.reading import ReadFact
from heldout.students.simulated.working import Mind, Worked, points, work

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


def answer(prompt: SeenPrompt, mind: Mind) -> Draft:
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
