"""The fact-list control: does a list of facts help without keyed verdicts?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout.splits.benchmark import Note
from heldout.students.designs.facts import FactSource
from heldout.students.designs.whole_note import WholeNoteJudge
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement


@dataclass(frozen=True)
class FactListJudge:
    """The whole-note judge with the audited facts in its prompt and one open score."""

    question: WholeNoteJudge
    source: FactSource

    @property
    def design(self) -> str:
        """That of the question."""
        return self.question.design

    @property
    def frame(self) -> Frame:
        """That of the question, with a slot for the facts."""
        return self.question.frame

    @property
    def score_range(self) -> tuple[float, float]:
        """That of the question."""
        return self.question.score_range

    @property
    def calls_per_judgement(self) -> int:
        """The facts and the question."""
        return self.source.calls_per_consultation + self.question.calls_per_judgement

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`; raises NoteLeaked if a transcript-only stage would have seen a note."""
        sheet = await self.source.sheet(note)
        if sheet.value is None:
            return sheet.failed(self.frame)
        prompt = self.frame.render(
            {
                "transcript": note.transcript,
                "facts": sheet.value.lines,
                "note": note.text,
                "block": block,
            }
        )
        answer = await self.question.answer(prompt, note, budget, sample)
        return replace(
            answer,
            calls=sheet.calls + answer.calls,
            facts=sheet.value.texts,
            facts_digest=sheet.value.digest,
        )
