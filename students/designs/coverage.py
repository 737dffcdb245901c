"""The coverage recipe: are the transcript's statements in the note, and the other way round?

RAGAS-style. Its score is the coverage; the faithfulness of the note's own statements
stands beside it as a figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout.splits.benchmark import Note
from heldout.students.calls.answering import ReadReply, RequestBuilder, ask
from heldout.students.calls.call import Stage
from heldout.students.contracts import Violation, ViolationKind, last_with
from heldout.students.designs.checker import PerFactChecker
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.replies import ReplyObject
from heldout.students.student import Judgement


@dataclass(frozen=True)
class StatementCheck:
    """Which statements of the note the transcript supports; its instructions do not evolve."""

    frame: Frame
    block: str
    asking: RequestBuilder

    async def share(self, note: Note, budget: Budget, sample: int) -> ReadReply[float]:
        """Share of statements supported, in [0, 1]."""
        prompt = self.frame.render(
            {"transcript": note.transcript, "note": note.text, "block": self.block}
        )
        spec = self.asking.spec(Stage.JUDGE, note, prompt, budget, sample)
        return await ask(self.asking.caller, spec, parse_statements, self.asking.run_seed)


@dataclass(frozen=True)
class Coverage:
    """Keyed coverage of unaudited facts, and faithfulness of the note's statements."""

    checker: PerFactChecker
    statements: StatementCheck
    design: str = "coverage"

    @property
    def frame(self) -> Frame:
        """That of the coverage check, whose block evolves."""
        return self.checker.frame

    @property
    def score_range(self) -> tuple[float, float]:
        """A share."""
        return self.checker.score_range

    @property
    def calls_per_judgement(self) -> int:
        """The checker's and the statement check with one retry."""
        return self.checker.calls_per_judgement + 2

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`; the figure `faithfulness` is the share of its statements supported."""
        covered = await self.checker.judge(block, note, budget, sample)
        if covered.score is None:
            return covered
        read = await self.statements.share(note, budget, sample)
        calls = covered.calls + read.calls
        if read.value is None:
            return replace(read, calls=calls).failed(self.frame, covered.facts_digest)
        figures = {**(covered.figures or {}), "faithfulness": read.value}
        return replace(covered, calls=calls, figures=figures)


def parse_statements(text: str) -> float | Violation:
    """Read `{"statements": [{"text": …, "supported": "yes" | "no"}, …]}`: the share of yes."""
    found = last_with(text, "statements")
    if isinstance(found, Violation):
        return found
    entries = found["statements"]
    if not isinstance(entries, list):
        return Violation(ViolationKind.WRONG_TYPE, '"statements" must be a list')
    if not entries:
        return Violation(ViolationKind.EMPTY, '"statements" is empty')
    answers = [_supported(entry) for entry in entries]
    if None in answers:
        place = answers.index(None) + 1
        return Violation(
            ViolationKind.WRONG_TYPE,
            f'entry {place} of "statements" needs a "text" and a "supported" of "yes" or "no"',
        )
    return answers.count(True) / len(answers)


def _supported(entry: object) -> bool | None:
    """What one entry says, None where it cannot be read."""
    if not isinstance(entry, ReplyObject) or "supported" in entry.conflicts:
        return None
    word = entry.get("supported")
    if not isinstance(word, str) or not isinstance(entry.get("text"), str):
        return None
    return {"yes": True, "no": False}.get(word.strip().casefold())
