"""The whole-note judge: one question a note, one score from 0 to 10."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.splits.benchmark import Note
from heldout.splits.randomness import call_seed
from heldout.students.calling import Calls, ask
from heldout.students.calls import CallSpec, Stage
from heldout.students.chat import Budget, Message, ModelPin
from heldout.students.contracts import Contract, ScoreContract
from heldout.students.frames import Frame
from heldout.students.rules import AtMost, FlagRule
from heldout.students.student import Judgement, Outcome

ZERO_TO_TEN = ScoreContract()
SEVEN_OR_LESS = AtMost(7.0)


@dataclass(frozen=True)
class WholeNoteJudge:
    """Faithfulness and completeness in one score (STUDY.md, «Judge designs»).

    `run_seed` enters the seed of every call. `contract` reads the reply, `rule` flags (None: the
    design has no rule of its own). `occasion` buys calls afresh (drift check).
    """

    frame: Frame
    pin: ModelPin
    caller: Calls
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
        read = await ask(
            self.caller, self._spec(block, note, budget, sample), self.contract.parse, self.run_seed
        )
        if read.value is None:
            return read.failed()
        answer = read.value
        flag = None if self.rule is None else self.rule.flags(answer)
        return Judgement(
            answer.score,
            Outcome.OK,
            read.calls,
            answer.assessment,
            flag=flag,
            findings=answer.findings,
        )

    def _spec(self, block: str, note: Note, budget: Budget, sample: int) -> CallSpec:
        prompt = self.frame.render(
            {"transcript": note.transcript, "note": note.text, "block": block}
        )
        return CallSpec(
            stage=Stage.JUDGE,
            item=note.id,
            messages=(Message("user", prompt),),
            pin=self.pin,
            budget=budget,
            seed=call_seed(self.run_seed, note.id, Stage.JUDGE, sample),
            sample=sample,
            occasion=self.occasion,
        )
