"""Standing controls: judges that ask no model. A design that does not beat them shows nothing.

An omission is shorter than its twin, so counting words looks clever: a judge whose scores follow
note length has not shown that it reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from heldout.splits.benchmark import Note
from heldout.splits.randomness import uniform
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome

WORD = re.compile(r"[^\W_]+")
MOST_WORDS = 100_000.0
"""Upper end of the range of word counts; far above any note."""


@dataclass(frozen=True)
class Control:
    """Scores a note by `measure(note, sample)`, a number in [0, `high`], worded as `says`."""

    design: str
    measure: Callable[[Note, int], float]
    high: float = 1.0
    says: str = "{design} {score:.3f}"
    calls_per_judgement: int = 0

    @property
    def frame(self) -> Frame:
        """Empty: no model is asked."""
        return Frame(self.design, "")

    @property
    def score_range(self) -> tuple[float, float]:
        """The measure's."""
        return (0.0, self.high)

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """The measure; block and budget change nothing."""
        del block, budget
        score = min(self.measure(note, sample), self.high)
        said, frame = self.says.format(design=self.design, score=score), self.frame.sha256
        return Judgement(score, Outcome.OK, (), said, frame_sha256=frame)


def word_count() -> Control:
    """The number of words of the note."""
    return Control(
        "word_count", lambda note, _: float(len(note.text.split())), MOST_WORDS, "{score:.0f} words"
    )


def transcript_words() -> Control:
    """Share of the transcript's distinct words that the note holds: a longer note holds more."""
    return Control("transcript_words", _shared_words)


def constant() -> Control:
    """The same score for every note: every pair ties."""
    return Control("constant", lambda *_: 1.0)


def random_scores(run_seed: int) -> Control:
    """A score drawn from run seed, note and sample: what chance looks like on this set."""
    return Control(
        "random", lambda note, sample: uniform(run_seed, "random judge", note.id, sample)
    )


def _shared_words(note: Note, sample: int) -> float:
    del sample
    said = set(WORD.findall(note.transcript.casefold()))
    return len(said & set(WORD.findall(note.text.casefold()))) / len(said) if said else 0.0
