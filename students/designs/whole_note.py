"""Judges that put one question a note: once, several times, or beside a list of facts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from heldout.splits.benchmark import Note
from heldout.students.calls.call import Stage
from heldout.students.calls.completion import CompletionClient, RequestBuilder, ask
from heldout.students.contracts import Answer, Contract, ScoreContract
from heldout.students.designs.facts import FactSource
from heldout.students.flag_rules import AtMost, FlagRule, winsorised_mean
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.student import Judgement, Outcome

ZERO_TO_TEN = ScoreContract()
SEVEN_OR_LESS = AtMost(7.0)


@dataclass(frozen=True)
class WholeNoteJudge:
    """Faithfulness and completeness in one score (the omission study's main design).

    `run_seed` enters the seed of every call. `contract` reads the reply, `rule` flags (None: the
    design has no rule of its own). `occasion` buys calls afresh (drift check).
    """

    frame: Frame
    pin: ModelPin
    caller: CompletionClient
    run_seed: int
    contract: Contract = ZERO_TO_TEN
    rule: FlagRule | None = SEVEN_OR_LESS
    occasion: str = ""
    design: str = "whole_note"

    @property
    def score_range(self) -> tuple[float, float]:
        """The contract's range."""
        return self.contract.score_range

    @property
    def calls_per_judgement(self) -> int:
        """The question and one retry."""
        return 2

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`."""
        slots = {"transcript": note.transcript, "note": note.text, "block": block}
        return await self.answer(self.frame.render(slots), note, budget, sample)

    async def answer(self, prompt: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """The judgement of `note` that `prompt` asks for."""
        requests = RequestBuilder(self.pin, self.caller, self.run_seed, self.occasion)
        spec = requests.spec(Stage.JUDGE, note, prompt, budget, sample)
        read = await ask(self.caller, spec, self.contract, self.run_seed)
        if read.value is None:
            return read.failed(self.frame)
        answer = read.value
        return Judgement(
            answer.score,
            Outcome.OK,
            read.calls,
            answer.assessment,
            flag=None if self.rule is None else self.rule.flags(answer),
            findings=answer.findings,
            frame_sha256=self.frame.sha256,
        )


class _OneQuestion:
    """What judges around one question share with it."""

    question: WholeNoteJudge

    @property
    def frame(self) -> Frame:
        """That of the question."""
        return self.question.frame

    @property
    def score_range(self) -> tuple[float, float]:
        """That of one answer."""
        return self.question.score_range


@dataclass(frozen=True)
class Sampled(_OneQuestion):
    """Asks `question` `samples` times a judging; the score is the winsorised mean.

    Samples without a score are left out; the judgement fails only if all of them did, as the first
    one failed. `rule` decides on the mean.
    """

    question: WholeNoteJudge
    samples: int
    rule: FlagRule | None
    design: str

    @property
    def calls_per_judgement(self) -> int:
        """Every sample may need its retry."""
        return self.samples * self.question.calls_per_judgement

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`; repetition `sample` has samples of its own."""
        first = sample * self.samples
        answers = await asyncio.gather(
            *(self.question.judge(block, note, budget, first + k) for k in range(self.samples))
        )
        calls = tuple(key for answer in answers for key in answer.calls)
        scores = [answer.score for answer in answers if answer.score is not None]
        if not scores:
            return replace(answers[0], calls=calls)
        score = winsorised_mean(scores)
        flag = None if self.rule is None else self.rule.flags(Answer(score))
        told = next(answer for answer in answers if answer.score is not None)
        return replace(told, score=score, calls=calls, flag=flag)


@dataclass(frozen=True)
class FactListJudge(_OneQuestion):
    """The whole-note judge with the audited facts in its prompt and one open score."""

    question: WholeNoteJudge
    source: FactSource

    @property
    def design(self) -> str:
        """That of the question."""
        return self.question.design

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
