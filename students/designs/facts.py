"""Facts of a consultation: what the per-fact designs check a note against.

The stages that make them read the transcript alone; a prompt that holds words of a note is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from heldout.splits.benchmark import Note
from heldout.splits.errors import HeldoutError
from heldout.splits.hashing import content_id, sha256_json
from heldout.splits.overlap import WHOLE_WORD, weights, words
from heldout.splits.randomness import call_seed
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.completion import CompletionClient, ReadReply, ask
from heldout.students.fact_contracts import FactsContract, StatedFact
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget, Message, ModelPin

WINDOW = 120
"""Length in characters of the three windows (start, middle, end) looked for."""

FEW_WORDS = 16
"""Words under which a note is too short to tell a leak from what was said in the consultation."""


class NoteLeaked(HeldoutError):
    """A transcript-only prompt about `consultation` holds words of one of its notes."""

    def __init__(self, consultation: str, stage: str) -> None:
        self.consultation, self.stage = consultation, stage
        super().__init__(
            f"consultation {consultation}: the prompt of stage «{stage}» contains part of a note, "
            "although this stage must see the transcript alone; check the transcript file and the "
            "frame"
        )


def squeezed(text: str) -> str:
    """Letter case and runs of white space normalised."""
    return " ".join(text.casefold().split())


def windows(text: str) -> tuple[str, ...]:
    """Start, middle and end of a note, normalised.

    A shorter note is one window, a note of fewer than `FEW_WORDS` none: a short sentence may well
    have been said as it was written down.
    """
    note = squeezed(text)
    if len(note) <= WINDOW:
        return (note,) if sum(weights(words(note))) >= FEW_WORDS * WHOLE_WORD else ()
    middle = (len(note) - WINDOW) // 2
    return (note[:WINDOW], note[middle : middle + WINDOW], note[-WINDOW:])


def assert_blind(prompt: str, notes: Iterable[str], consultation: str, stage: str) -> None:
    """Raise NoteLeaked if a window of any of `notes` occurs in `prompt`."""
    seen = squeezed(prompt)
    if any(window in seen for note in notes for window in windows(note)):
        raise NoteLeaked(consultation, stage)


FACT_ID_DIGITS = 8
"""Digits of a fact id in prompts: 32 bits, ample within one consultation, few tokens."""

SHARED_SEED = 0
"""Enters the seed of stages that belong to a consultation: the same for every candidate, replicate
and campaign, so that all of them are compared on the same facts."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of a transcript; `severity` and `section` are empty where nobody gave them."""

    id: str
    text: str
    evidence: str = ""
    severity: str = ""
    section: str = ""

    @property
    def line(self) -> str:
        """The fact as checkers see it: `id: text`, its section first if it has one.

        Evidence and severity stay out.
        """
        section = f"[{self.section}] " if self.section else ""
        return f"{self.id}: {section}{self.text}"


@dataclass(frozen=True)
class FactSheet:
    """The facts of one consultation, in the order in which they were stated."""

    facts: tuple[Fact, ...]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over everything the facts hold."""
        return sha256_json([[f.id, f.text, f.evidence, f.severity, f.section] for f in self.facts])

    @cached_property
    def by_id(self) -> dict[str, Fact]:
        """Facts by id."""
        return {fact.id: fact for fact in self.facts}

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids in order."""
        return tuple(self.by_id)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Fact id to text."""
        return {fact.id: fact.text for fact in self.facts}

    @cached_property
    def lines(self) -> str:
        """All facts as checkers see them, one a line."""
        return lines(self.facts)


class FactSource(Protocol):
    """Whatever makes the fact sheet of a consultation from its transcript alone."""

    @property
    def calls_per_consultation(self) -> int:
        """The largest number of calls one sheet can take."""

    async def sheet(self, note: Note) -> ReadReply[FactSheet]:
        """The sheet for the consultation of `note`; only transcript and siblings are read."""


@dataclass(frozen=True)
class Extraction:
    """Facts from the transcript alone, bought once a consultation.

    `budget` is its own: the budget under study moves the judge, never the facts. `stage` and
    `field` name what is listed: facts, or the items of a checklist.
    """

    frame: Frame
    pin: ModelPin
    caller: CompletionClient
    budget: Budget
    stage: Stage = Stage.EXTRACT
    field: str = "facts"

    @property
    def contract(self) -> FactsContract:
        """A list; its facts have a section where the frame asks for one."""
        return FactsContract(self.field, placed='"section"' in self.frame.template)

    @property
    def calls_per_consultation(self) -> int:
        """The extraction and one retry."""
        return 2

    async def sheet(self, note: Note) -> ReadReply[FactSheet]:
        """The facts of the consultation of `note`."""
        prompt = self.frame.render({"transcript": note.transcript})
        spec = shared_spec(self.stage, note, prompt, self.pin, self.budget)
        read = await ask(self.caller, spec, self.contract, SHARED_SEED, counts_at_cap=False)
        value = None if read.value is None else sheet_of(note.consultation, read.value)
        return ReadReply(value, read.outcome, read.calls, read.detail)


def sheet_of(consultation: str, stated: Sequence[StatedFact]) -> FactSheet:
    """The sheet of `stated`: ids are hashes of consultation and text."""
    return FactSheet(tuple(_fact(consultation, fact) for fact in stated))


def _fact(consultation: str, stated: StatedFact) -> Fact:
    return Fact(
        content_id("fact", consultation, stated.text)[:FACT_ID_DIGITS],
        stated.text,
        stated.evidence,
        section=stated.section,
    )


def lines(facts: Iterable[Fact]) -> str:
    """Facts as checkers see them, one a line."""
    return "\n".join(fact.line for fact in facts)


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
