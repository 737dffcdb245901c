"""The whole-note judge: one question a note, one score from 0 to 10."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.splits.benchmark import Note
from heldout.students.calls.answering import CompletionClient, RequestBuilder, ask
from heldout.students.calls.call import Stage
from heldout.students.contracts import Contract, ScoreContract
from heldout.students.flag_rules import AtMost, FlagRule
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
        asking = RequestBuilder(self.pin, self.caller, self.run_seed, self.occasion)
        spec = asking.spec(Stage.JUDGE, note, prompt, budget, sample)
        read = await ask(self.caller, spec, self.contract.parse, self.run_seed)
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
