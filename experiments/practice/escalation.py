"""Escalation as a judge: a cheap judging first, a dearer one on what it flags."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout.gepa.statistics.table import DECIMALS
from heldout.splits.benchmark import Note
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome, Student


@dataclass(frozen=True)
class Escalated:
    """Judges at the budget asked for, and what that flags once more at `then`.

    The second judging decides; a note that the first one clears is never judged again, so the
    flags are a part of the first judging's. `threshold` None: the design's own rule decides what
    goes on.
    """

    student: Student
    threshold: float | None
    then: Budget

    @property
    def design(self) -> str:
        """That of the judge."""
        return self.student.design

    @property
    def frame(self) -> Frame:
        """That of the judge."""
        return self.student.frame

    @property
    def score_range(self) -> tuple[float, float]:
        """That of the judge."""
        return self.student.score_range

    @property
    def calls_per_judgement(self) -> int:
        """Both judgings."""
        return 2 * self.student.calls_per_judgement

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`, twice where the first judging flags it or has no answer."""
        first = await self.student.judge(block, note, budget, sample)
        if first.outcome is Outcome.OK and not self._flags(first):
            return first
        second = await self.student.judge(block, note, self.then, sample)
        return replace(second, calls=first.calls + second.calls)

    def _flags(self, judgement: Judgement) -> bool:
        if self.threshold is None or judgement.score is None:
            return bool(judgement.flag)
        return round(judgement.score, DECIMALS) < round(self.threshold, DECIMALS)
