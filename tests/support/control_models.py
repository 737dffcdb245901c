"""Scripted controls: models that answer from a table keyed by the hash of the messages.

They go through a design's own frame and contract, so a measure is tested on success as well as on
failure. The table is learned by asking the design about every note once well and once badly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from tests.support.answering import answer
from tests.support.scripted import ScriptedCaller

from heldout.splits.benchmark import Note
from heldout.students.calls.call import CallSpec
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.roster import Design
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.student import Judgement

PIN = ModelPin("scripted/judge")
BUDGET = Budget(1500)
CONTROLS: Mapping[str, Callable[[Note], bool]] = {
    "oracle": lambda note: note.label.is_clean,
    "anti-oracle": lambda note: not note.label.is_clean,
    "constant": lambda _: True,
    "flag-everything": lambda _: False,
}
"""Whether the control calls a note flawless."""


def table_of(
    design: Design, notes: Sequence[Note], well: Callable[[Note], bool]
) -> dict[str, bool]:
    """Hash of the messages about a note to whether the control calls that note flawless."""
    by_id = {note.id: note for note in notes}
    table = {}
    for side in (True, False):
        caller = ScriptedCaller(lambda spec, side=side: answer(spec, well=side))
        judge_all(design, caller, notes)
        for spec in caller.asked:
            if spec.item in by_id:
                table[spec.messages_sha256] = well(by_id[spec.item])
    return table


def control(table: Mapping[str, bool]) -> ScriptedCaller:
    """The model; questions about a consultation have one answer for everybody."""

    def reply(spec: CallSpec) -> str:
        return answer(spec, well=table.get(spec.messages_sha256, True))

    return ScriptedCaller(reply)


def judge_all(design: Design, caller: ScriptedCaller, notes: Sequence[Note]) -> list[Judgement]:
    """Every note judged once under the design's own block."""
    student = design.build(DesignContext(Roles.all(PIN), caller, run_seed=11))

    async def run() -> list[Judgement]:
        return [await student.judge(design.block, note, BUDGET, 0) for note in notes]

    return asyncio.run(run())
