"""Score tables of simulated judges on made notes, for calibration: no store, no journal, no cap."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Benchmark, Note
from heldout.splits.synthetic import draw
from heldout.students.calls.call import CallSpec
from heldout.students.designs.whole_note import WholeNoteJudge
from heldout.students.frames import load_frame
from heldout.students.models.chat import Budget, ChatModel, ChatReply, ModelPin

PLAIN = "Judge how well the note serves the next clinician as a record of this consultation."
INVENTORY = (
    "First list every fact of the transcript that a clinician would want on record. Then look for "
    "each of them in the note and lower the score for each one that is missing. Give the score "
    "with one decimal."
)


@dataclass(frozen=True)
class Reply:
    """A reply and the identity of its call."""

    key: str
    reply: ChatReply


@dataclass(frozen=True)
class Direct:
    """Calls that go straight to a model in process and are not kept."""

    model: ChatModel

    async def call(self, spec: CallSpec) -> Reply:
        """The reply of the model."""
        return Reply(spec.key, await self.model.complete(spec.request))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A simulated whole-note judge: which model, how warm, how large its budget, which seed."""

    model: ChatModel
    name: str
    seed: int
    temperature: float = 0.7
    max_tokens: int = 1_500


def made_benchmark(consultations: int, *, seed: int) -> Benchmark:
    """The synthetic benchmark."""
    return draw(consultations, seed).benchmark


def runs(
    block: str, benchmark: Benchmark, setting: Setting, *, replicates: int
) -> tuple[ScoreTable, ...]:
    """One table a replicate of `block` on every note; replicates differ by call seeds alone."""
    judge = WholeNoteJudge(
        frame=load_frame("whole_note"),
        pin=ModelPin(setting.name, setting.temperature),
        caller=Direct(setting.model),
        run_seed=setting.seed,
    )
    notes = [note for consultation in benchmark for note in consultation.notes]
    budget = Budget(setting.max_tokens)
    return tuple(
        asyncio.run(_table(judge, block, notes, budget, sample)) for sample in range(replicates)
    )


async def _table(
    judge: WholeNoteJudge, block: str, notes: Sequence[Note], budget: Budget, sample: int
) -> ScoreTable:
    judgements = [await judge.judge(block, note, budget, sample) for note in notes]
    return ScoreTable(tuple(n.label for n in notes), tuple(j.score for j in judgements))
