"""One note judged for use: samples made one verdict, a threshold or the design's rule applied.

This module goes into exports, so it rests on `splits` and `students` alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from heldout.splits.benchmark import Note, NoteClass, NoteLabel, note_id
from heldout.splits.hashing import content_id
from heldout.students.flag_rules import majority, winsorised_mean
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome, ReportedGap

DECIMALS = 9
"""Scores are recorded and compared at this precision, here as in campaigns."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of one note.

    `score` is the winsorised mean of the samples that have one. `flag` is None where there is no
    score; `named` are the facts the judge names as missing.
    """

    score: float | None
    flag: bool | None
    outcome: str
    assessment: str
    named: tuple[ReportedGap, ...]

    def to_json(self) -> dict[str, Any]:
        """`{status, score, flag, named, assessment}`."""
        return {
            "status": self.outcome,
            "score": self.score,
            "flag": self.flag,
            "named": [
                {"text": f.text, "severity": f.severity, "evidence": f.evidence} for f in self.named
            ],
            "assessment": self.assessment,
        }


def own_note(text: str, transcript: str, consultation: str | None = None) -> Note:
    """A note of one's own; its id, and with it every seed, follows from consultation and text.

    Without a name notes that share a transcript are one consultation.
    """
    group = consultation or content_id("consultation", transcript)
    ident = note_id(group, text, NoteClass.CLEAN, text)
    return Note(NoteLabel(ident, group, "own", NoteClass.CLEAN, ident), text, transcript)


class NoteJudge(Protocol):
    """Whatever judges a note under a block: a student, or several put together."""

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """See `Student.judge`."""


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """How notes are judged for use.

    The flag is `score < threshold`; `threshold` None: the design's own rule, by strict majority.
    """

    block: str
    budget: Budget
    samples: int = 1
    threshold: float | None = None


async def judge_note(student: NoteJudge, note: Note, config: JudgeConfig) -> Verdict:
    """Judge `note` once in every sample. Raises what the student raises."""
    judgements = await asyncio.gather(
        *(
            student.judge(config.block, note, config.budget, sample)
            for sample in range(config.samples)
        )
    )
    return verdict(judgements, config.threshold)


def verdict(judgements: list[Judgement], threshold: float | None) -> Verdict:
    """One verdict from the samples of a note."""
    answered = [j for j in judgements if j.score is not None]
    told = answered[0] if answered else judgements[0]
    scores = [j.score for j in answered if j.score is not None]
    score = round(winsorised_mean(scores), DECIMALS) if scores else None
    if score is None:
        flag = None
    elif threshold is None:
        flag = majority([bool(j.flag) for j in judgements])
    else:
        flag = round(score, DECIMALS) < round(threshold, DECIMALS)
    return Verdict(
        score=score,
        flag=flag,
        outcome=str(Outcome.OK if scores else told.outcome),
        assessment=told.assessment,
        named=named_facts(told),
    )


def named_facts(judgement: Judgement) -> tuple[ReportedGap, ...]:
    """The facts that a judgement names: its findings, else the facts it calls absent."""
    if judgement.findings or not judgement.verdicts:
        return judgement.findings
    facts: Mapping[str, str] = judgement.facts or {}
    return tuple(
        ReportedGap(facts.get(key, key))
        for key, word in judgement.verdicts.items()
        if word == "absent"
    )
