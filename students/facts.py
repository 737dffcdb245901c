"""Facts of a consultation: what the per-fact designs check a note against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from heldout.splits.benchmark import Note
from heldout.splits.hashing import content_id, sha256_json
from heldout.splits.randomness import call_seed
from heldout.students.blindness import assert_blind
from heldout.students.calling import Calls, Read, ask
from heldout.students.calls import CallSpec, Stage
from heldout.students.chat import Budget, Message, ModelPin
from heldout.students.fact_contracts import StatedFact, parse_facts
from heldout.students.frames import Frame

FACT_ID_DIGITS = 8
"""Digits of a fact id in prompts: 32 bits, ample within one consultation, few tokens."""

SHARED_SEED = 0
"""Enters the seed of stages that belong to a consultation: the same for every candidate, replicate
and campaign, so that all of them are compared on the same facts."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of a transcript; `severity` is empty where nobody graded it."""

    id: str
    text: str
    evidence: str = ""
    severity: str = ""


@dataclass(frozen=True)
class FactSheet:
    """The facts of one consultation, in the order in which they were stated."""

    facts: tuple[Fact, ...]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over ids, texts, evidence and grades."""
        return sha256_json([[f.id, f.text, f.evidence, f.severity] for f in self.facts])

    @cached_property
    def texts(self) -> dict[str, str]:
        """Fact id to text."""
        return {fact.id: fact.text for fact in self.facts}

    def lines(self, ids: Sequence[str] | None = None) -> str:
        """The facts as a prompt lists them, one a line: `id: text`. Evidence and grade stay out."""
        wanted = self.texts if ids is None else ids
        return "\n".join(f"{key}: {self.texts[key]}" for key in wanted)


class FactSource(Protocol):
    """Whatever makes the fact sheet of a consultation from its transcript alone."""

    @property
    def calls_per_consultation(self) -> int:
        """The largest number of calls one sheet can take."""

    async def sheet(self, note: Note) -> Read[FactSheet]:
        """The sheet for the consultation of `note`; only transcript and siblings are read."""


def sheet_of(consultation: str, stated: Sequence[StatedFact]) -> FactSheet:
    """The sheet of `stated`: ids are hashes of consultation and text."""
    return FactSheet(
        tuple(
            Fact(content_id("fact", consultation, s.text)[:FACT_ID_DIGITS], s.text, s.evidence)
            for s in stated
        )
    )


def shared_spec(stage: Stage, note: Note, prompt: str, pin: ModelPin, budget: Budget) -> CallSpec:
    """A call that belongs to the consultation; raises NoteLeaked if `prompt` holds a note."""
    assert_blind(prompt, (*note.siblings, note.text), note.consultation, stage)
    return CallSpec(
        stage=stage,
        item=note.consultation,
        messages=(Message("user", prompt),),
        pin=pin,
        budget=budget,
        seed=call_seed(SHARED_SEED, note.consultation, stage, 0),
    )


@dataclass(frozen=True)
class Extraction:
    """Facts from the transcript alone, bought once a consultation.

    `budget` is its own: the budget under study moves the judge, never the facts.
    """

    frame: Frame
    pin: ModelPin
    caller: Calls
    budget: Budget

    @property
    def calls_per_consultation(self) -> int:
        """The extraction and one retry."""
        return 2

    async def sheet(self, note: Note) -> Read[FactSheet]:
        """The facts of the consultation of `note`."""
        prompt = self.frame.render({"transcript": note.transcript})
        spec = shared_spec(Stage.EXTRACT, note, prompt, self.pin, self.budget)
        read = await ask(self.caller, spec, parse_facts, SHARED_SEED)
        value = None if read.value is None else sheet_of(note.consultation, read.value)
        return Read(value, read.outcome, read.calls, read.detail)
