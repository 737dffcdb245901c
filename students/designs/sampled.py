"""Several samples of one question, made one answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from heldout.splits.benchmark import Note
from heldout.students.contracts import Answer
from heldout.students.designs.aggregate import winsorised_mean
from heldout.students.designs.whole_note import WholeNoteJudge
from heldout.students.flag_rules import FlagRule
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement


@dataclass(frozen=True)
class Sampled:
    """Asks `once` `samples` times a judging; the score is the winsorised mean.

    Samples without a score are left out; the judgement fails only if all of them did, as the first
    one failed. `rule` decides on the mean.
    """

    once: WholeNoteJudge
    samples: int
    rule: FlagRule | None
    design: str

    @property
    def frame(self) -> Frame:
        """That of the question."""
        return self.once.frame

    @property
    def score_range(self) -> tuple[float, float]:
        """That of one answer."""
        return self.once.score_range

    @property
    def calls_per_judgement(self) -> int:
        """Every sample may need its retry."""
        return self.samples * self.once.calls_per_judgement

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`; repetition `sample` has samples of its own."""
        first = sample * self.samples
        answers = await asyncio.gather(
            *(self.once.judge(block, note, budget, first + k) for k in range(self.samples))
        )
        calls = tuple(key for answer in answers for key in answer.calls)
        scores = [answer.score for answer in answers if answer.score is not None]
        if not scores:
            return replace(answers[0], calls=calls)
        score = winsorised_mean(scores)
        flag = None if self.rule is None else self.rule.flags(Answer(score))
        told = next(answer for answer in answers if answer.score is not None)
        return replace(told, score=score, calls=calls, flag=flag)
