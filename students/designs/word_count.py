"""The word-count control: an omission is shorter than its twin, so counting words looks clever.

It stands in every roster and report. A judge whose scores follow note length has not shown that it
reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from heldout.splits.benchmark import Note
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome

MOST_WORDS = 100_000.0
"""Upper end of the score range; far above any note."""


@dataclass(frozen=True)
class WordCount:
    """Scores a note by its number of words and makes no calls."""

    design: str = "word_count"

    @property
    def frame(self) -> Frame:
        """Empty: no model is asked."""
        return Frame("word_count", "")

    @property
    def score_range(self) -> tuple[float, float]:
        """Words."""
        return (0.0, MOST_WORDS)

    @property
    def calls_per_judgement(self) -> int:
        """None are made."""
        return 0

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """The number of words; block, budget and sample change nothing."""
        del block, budget, sample
        words = len(note.text.split())
        score, frame = min(float(words), MOST_WORDS), self.frame.sha256
        return Judgement(score, Outcome.OK, (), f"{words} words", frame_sha256=frame)
