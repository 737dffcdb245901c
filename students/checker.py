"""The per-fact checker: is each fact of the transcript present in the note?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from heldout.splits.benchmark import Note
from heldout.splits.randomness import call_seed
from heldout.students.calling import Calls, Read, interpret, retry_spec
from heldout.students.calls import CallSpec, Stage
from heldout.students.chat import Budget, Message, ModelPin
from heldout.students.contracts import Violation, ViolationKind
from heldout.students.fact_contracts import KeyedVerdicts, parse_verdicts
from heldout.students.facts import FactSheet, FactSource
from heldout.students.frames import Frame
from heldout.students.student import Judgement, Outcome

VERDICTS = ("present", "partial", "absent")
"""Words accepted; only the first and the last are asked for. «partial» counts as present."""


@dataclass(frozen=True)
class PerFactChecker:
    """The two-stage pipeline (STUDY.md): facts once a consultation, one keyed check a note.

    Only the check paragraph evolves; `source` makes the facts and does not move with it. The score
    is the share of facts present, in [0, 1]. The design has no flag rule of its own.
    """

    frame: Frame
    pin: ModelPin
    caller: Calls
    run_seed: int
    source: FactSource
    occasion: str = ""
    design: str = "per_fact"

    @property
    def score_range(self) -> tuple[float, float]:
        """A share."""
        return (0.0, 1.0)

    @property
    def calls_per_judgement(self) -> int:
        """The facts, the check and one retry."""
        return self.source.calls_per_consultation + 2

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`; raises NoteLeaked if the extraction would have seen a note."""
        sheet = await self.source.sheet(note)
        if sheet.value is None:
            return sheet.failed()
        spec = self._spec(block, note, sheet.value, budget, sample)
        read = await ask_keyed(self.caller, spec, sheet.value, VERDICTS, self.run_seed)
        read = replace(read, calls=sheet.calls + read.calls)
        if read.value is None:
            return read.failed(facts_digest=sheet.value.digest)
        return self._judgement(sheet.value, read.value, read.calls)

    def _spec(
        self, block: str, note: Note, sheet: FactSheet, budget: Budget, sample: int
    ) -> CallSpec:
        prompt = self.frame.render({"facts": sheet.lines(), "note": note.text, "block": block})
        return CallSpec(
            stage=Stage.CHECK,
            item=note.id,
            messages=(Message("user", prompt),),
            pin=self.pin,
            budget=budget,
            seed=call_seed(self.run_seed, note.id, Stage.CHECK, sample),
            sample=sample,
            occasion=self.occasion,
        )

    def _judgement(
        self, sheet: FactSheet, verdicts: Mapping[str, str], calls: tuple[str, ...]
    ) -> Judgement:
        words = list(verdicts.values())
        absent, partly = words.count("absent"), words.count("partial")
        hedged = f", {partly} called partial" if partly else ""
        return Judgement(
            score=1 - absent / len(words),
            outcome=Outcome.OK,
            calls=calls,
            assessment=f"{absent} of {len(words)} facts absent{hedged}",
            verdicts=dict(verdicts),
            facts=sheet.texts,
            facts_digest=sheet.digest,
        )


async def ask_keyed(
    caller: Calls, spec: CallSpec, sheet: FactSheet, allowed: tuple[str, ...], run_seed: int
) -> Read[Mapping[str, str]]:
    """One verdict for every fact of `sheet`; ids left open are asked for once more.

    Verdicts of the first reply stand; the retry only fills what is open.
    """
    first = await caller.call(spec)
    read = interpret(first, partial(parse_verdicts, asked=sheet.texts, allowed=allowed))
    given: dict[str, str] = {} if read.value is None else dict(read.value.verdicts)
    if read.outcome in (Outcome.REFUSED, Outcome.TRUNCATED) or len(given) == len(sheet.facts):
        return Read(given if read.value else None, read.outcome, read.calls, read.detail)
    open_ids = [fact.id for fact in sheet.facts if fact.id not in given]
    wrong = _complaint(read, open_ids)
    second = await caller.call(retry_spec(spec, first.reply, wrong, run_seed))
    again = interpret(second, partial(_all_of, asked=open_ids, allowed=allowed))
    calls = read.calls + again.calls
    if again.value is None:
        return Read(None, again.outcome, calls, again.detail)
    given |= again.value
    return Read({key: given[key] for key in sheet.texts}, Outcome.OK, calls)


def _complaint(read: Read[KeyedVerdicts], open_ids: list[str]) -> str:
    """What the retry says: what could not be read, and which ids are still open."""
    reason = f"{read.detail}; " if read.detail else ""
    return f"{reason}these ids still need a verdict: {', '.join(open_ids)}"


def _all_of(text: str, asked: list[str], allowed: tuple[str, ...]) -> dict[str, str] | Violation:
    """Verdicts for all of `asked`, or the violation that names how many are missing."""
    keyed = parse_verdicts(text, asked, allowed)
    if isinstance(keyed, Violation):
        return keyed
    if keyed.unanswered:
        return Violation(ViolationKind.UNANSWERED, f"no verdict for {', '.join(keyed.unanswered)}")
    return dict(keyed.verdicts)
