"""The audit: drops facts that should not be checked and grades the others by severity."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout.splits.benchmark import Note
from heldout.students.calls.call import Stage
from heldout.students.calls.completion import CompletionClient, ReadReply, ask_keyed
from heldout.students.designs.facts import SHARED_SEED, FactSheet, FactSource, shared_spec
from heldout.students.fact_contracts import KeyedContract
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.student import Outcome

DROPS = ("unsupported", "duplicate", "trivial")
"""Reasons to drop a fact: not in the transcript, said by another fact, not worth noting."""
GRADES = KeyedContract("grades", ("critical", "supporting", "peripheral", *DROPS))


@dataclass(frozen=True)
class Audited:
    """Facts of `source` after an audit that sees transcript and facts only.

    Bought once a consultation. Whoever checks the facts never sees the grades.
    """

    source: FactSource
    frame: Frame
    pin: ModelPin
    caller: CompletionClient
    budget: Budget

    @property
    def calls_per_consultation(self) -> int:
        """Those of the source, the audit and one retry."""
        return self.source.calls_per_consultation + 2

    async def sheet(self, note: Note) -> ReadReply[FactSheet]:
        """The facts kept, each with its severity; none kept is a contract violation."""
        raw = await self.source.sheet(note)
        if raw.value is None:
            return raw
        prompt = self.frame.render(
            {"transcript": note.transcript, "facts": _with_evidence(raw.value)}
        )
        spec = shared_spec(Stage.AUDIT, note, prompt, self.pin, self.budget)
        grades = await ask_keyed(self.caller, spec, GRADES, raw.value.ids, SHARED_SEED)
        calls = raw.calls + grades.calls
        if grades.value is None:
            return ReadReply(None, grades.outcome, calls, grades.detail)
        kept = tuple(
            replace(fact, severity=grades.value[fact.id])
            for fact in raw.value.facts
            if grades.value[fact.id] not in DROPS
        )
        if not kept:
            return ReadReply(
                None, Outcome.CONTRACT_VIOLATION, calls, "the audit dropped every fact"
            )
        return ReadReply(FactSheet(kept), Outcome.OK, calls)


def _with_evidence(sheet: FactSheet) -> str:
    """Facts one a line, each with the words of the transcript it rests on."""
    return "\n".join(
        f"{fact.line} (evidence: {fact.evidence})" if fact.evidence else fact.line
        for fact in sheet.facts
    )
