"""Judges made of two: the coverage recipe, and the union of a per-fact and a whole-note judge."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from heldout.splits.benchmark import Note
from heldout.students.calls.call import Stage
from heldout.students.calls.completion import ReadReply, RequestBuilder, ask
from heldout.students.contracts import Violation, ViolationKind, one_answer
from heldout.students.designs.checker import PerFactChecker
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.replies import ReplyObject, folded
from heldout.students.structured import Schema, listed, record, text, word
from heldout.students.student import Judgement, Outcome, Student

STATEMENT_TOKENS, MOST_STATEMENTS, MOST_STATEMENT = 90, 60, 120
"""Tokens of one statement with its answer, how many are listed, and its characters, at most."""


@dataclass(frozen=True)
class StatementCheck:
    """Which statements of the note the transcript supports; its instructions do not evolve."""

    frame: Frame
    block: str
    requests: RequestBuilder

    async def share(self, note: Note, budget: Budget, sample: int) -> ReadReply[float]:
        """Share of statements supported, in [0, 1]."""
        prompt = self.frame.render(
            {"transcript": note.transcript, "note": note.text, "block": self.block}
        )
        spec = self.requests.spec(Stage.JUDGE, note, prompt, budget, sample)
        return await ask(self.requests.caller, spec, StatementsContract(), self.requests.run_seed)


@dataclass(frozen=True)
class Coverage:
    """Are the transcript's statements in the note, and the other way round (RAGAS-style)?

    The score is the keyed coverage of unaudited facts; the faithfulness of the note's own
    statements stands beside it as a figure.
    """

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


@dataclass(frozen=True)
class StatementsContract:
    """`{"statements": [{"text": …, "supported": "yes" | "no"}, …]}`: the share of yes."""

    def parse(self, text: str) -> float | Violation:
        """The share of the one list, see `one_answer`."""
        answers = one_answer(text, "statements", self.read, lambda a: f"{sum(a)} yes of {len(a)}")
        return answers if isinstance(answers, Violation) else sum(answers) / len(answers)

    def schema(self, tokens: int) -> Schema:
        """The list."""
        item = record(text=text(MOST_STATEMENT, MOST_STATEMENT), supported=word("yes", "no"))
        return record(statements=listed(item, 1, min(MOST_STATEMENTS, tokens // STATEMENT_TOKENS)))

    def read(self, found: ReplyObject) -> tuple[bool, ...] | Violation:
        """The answers in one object."""
        entries = found.one("statements")
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
        return tuple(answer is True for answer in answers)


def _supported(entry: object) -> bool | None:
    """What one entry says, None where it cannot be read."""
    if not isinstance(entry, ReplyObject) or "supported" in entry.conflicts:
        return None
    word = entry.one("supported")
    if not isinstance(word, str) or not isinstance(entry.one("text"), str):
        return None
    return {"yes": True, "no": False}.get(folded(word))


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
