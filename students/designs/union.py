"""The union of methods: a note is flagged if any of several judges flags it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from heldout.splits.benchmark import Note
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome, Student


@dataclass(frozen=True)
class Union:
    """The per-fact rule or a whole-note flag (after the study).

    The block under study goes to `first`; `second` keeps `second_block`. Both must have a flag
    rule. The score is 1 minus the share of the two that flag, so 1, 0.5 or 0.
    """

    first: Student
    second: Student
    second_block: str
    design: str = "union"

    @property
    def frame(self) -> Frame:
        """That of the judge whose block evolves."""
        return self.first.frame

    @property
    def score_range(self) -> tuple[float, float]:
        """Both flag, none flags."""
        return (0.0, 1.0)

    @property
    def calls_per_judgement(self) -> int:
        """Those of both."""
        return self.first.calls_per_judgement + self.second.calls_per_judgement

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`; a judge without an answer makes the union have none."""
        both = await asyncio.gather(
            self.first.judge(block, note, budget, sample),
            self.second.judge(self.second_block, note, budget, sample),
        )
        calls = tuple(key for answer in both for key in answer.calls)
        digest = next((a.facts_digest for a in both if a.facts_digest), None)
        failed = next((a for a in both if a.outcome is not Outcome.OK), None)
        if failed is not None:
            return replace(failed, calls=calls, facts_digest=digest, frame_sha256=self.frame.sha256)
        flags = [bool(answer.flag) for answer in both]
        return Judgement(
            score=1 - sum(flags) / len(flags),
            outcome=Outcome.OK,
            calls=calls,
            assessment="; ".join(answer.assessment for answer in both),
            flag=any(flags),
            verdicts=both[0].verdicts,
            facts=both[0].facts,
            facts_digest=digest,
            findings=tuple(finding for answer in both for finding in answer.findings),
            figures=both[0].figures,
            frame_sha256=self.frame.sha256,
        )
