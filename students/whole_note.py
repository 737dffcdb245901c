"""The whole-note judge: one question a note, one score from 0 to 10."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.splits.benchmark import Note
from heldout.splits.randomness import call_seed
from heldout.students.calling import Calls, ask
from heldout.students.calls import CallSpec, Stage
from heldout.students.chat import Budget, Message, ModelPin
from heldout.students.contracts import MAX_SCORE, parse_whole_note
from heldout.students.frames import Frame
from heldout.students.student import Judgement, Outcome


@dataclass(frozen=True)
class WholeNoteJudge:
    """Faithfulness and completeness in one score (STUDY.md, «Judge designs»).

    `run_seed` enters the seed of every call. `flag_at`: a note is flagged at this score or below,
    a rule fixed before any data was seen. `occasion` buys calls afresh (drift check).
    """

    frame: Frame
    pin: ModelPin
    caller: Calls
    run_seed: int
    flag_at: float = 7.0
    occasion: str = ""
    design: str = "whole_note"

    @property
    def score_range(self) -> tuple[float, float]:
        """The contract's range."""
        return (0.0, MAX_SCORE)

    @property
    def calls_per_judgement(self) -> int:
        """The question and one retry."""
        return 2

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`; the score is in [0, 10], higher is better."""
        read = await ask(
            self.caller, self._spec(block, note, budget, sample), parse_whole_note, self.run_seed
        )
        if read.value is None:
            return read.failed()
        score = read.value.score
        return Judgement(
            score, Outcome.OK, read.calls, read.value.assessment, flag=score <= self.flag_at
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
