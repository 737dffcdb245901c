"""A search without models: a student and a reflector that answer in process from plain rules.

Test doubles for the engine and its benchmark; nothing here reads a text.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, TypeVar

from heldout.gepa.acceptance import Acceptance, MinibatchImprovement
from heldout.gepa.candidates import Candidate, Origin, Pool, Status
from heldout.gepa.evaluation import Evaluator, Occasion
from heldout.gepa.frontier import Frontier, win_tie_loss
from heldout.gepa.minibatch import ConsultationFirst
from heldout.gepa.objective import PairedFirst
from heldout.gepa.record.events import Deterministic
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.reward import rank_reward
from heldout.gepa.search import Search, scores_of
from heldout.gepa.settings import SearchSettings
from heldout.gepa.spending import Spending, Spent
from heldout.reflectors.guard import Guard
from heldout.reflectors.prompts import LengthCap
from heldout.reflectors.reflector import MergeContext, Proposal, Reflector, RewriteContext
from heldout.splits.benchmark import (
    Consultation,
    Note,
    NoteClass,
    NoteLabel,
    Severity,
    TraceLevel,
    note_id,
)
from heldout.splits.hashing import sha256_text
from heldout.splits.protected import ProtectedTexts
from heldout.splits.randomness import uniform
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome

NOTHING_PROTECTED = ProtectedTexts()
FRAME = Frame("stub", "<note>{{note}}</note> {{block}} {{transcript}}")

CLASSES = (
    (NoteClass.OMIT_COMPLETE, TraceLevel.COMPLETE),
    (NoteClass.OMIT_PARTIAL, TraceLevel.PARTIAL_WEAK),
    (NoteClass.ADD, None),
    (NoteClass.CHANGE, None),
)


def consultation(number: int, errored: int = 4) -> Consultation:
    """A consultation with one clean note and `errored` errored ones, of every class in turn."""
    name = f"ward|case{number:03d}"
    clean = _note(name, f"clean note of {name}", (NoteClass.CLEAN, None), None)
    notes = [
        _note(name, f"note {k} of {name}", CLASSES[k % len(CLASSES)], clean) for k in range(errored)
    ]
    return Consultation(name, "ward", f"transcript of {name}", (clean,), tuple(notes))


def _note(
    name: str, text: str, kind: tuple[NoteClass, TraceLevel | None], twin: Note | None
) -> Note:
    note_class, trace = kind
    own = note_id(name, text, note_class, twin.text if twin else text)
    label = NoteLabel(
        id=own,
        consultation=name,
        stratum="ward",
        note_class=note_class,
        twin=twin.id if twin else own,
        trace=trace,
        severity=None if twin is None else Severity.SUPPORTING,
    )
    return Note(label, text, f"transcript of {name}", fact=None if twin is None else "a fact")


@dataclass(frozen=True)
class SkillStudent:
    """Sees an error with a probability that grows with the digits of skill in the block.

    A pure function of block and note; `awaited` records how often it was asked.
    """

    frame: Frame = FRAME
    design: str = "stub"
    score_range: tuple[float, float] = (0.0, 10.0)
    calls_per_judgement: int = 0
    awaited: list[str] = field(default_factory=list, compare=False)

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Score a note: 8 when nothing is seen, less when something is."""
        del budget  # a stub spends nothing
        self.awaited.append(note.id)
        skill = sum(map(int, filter(str.isdigit, block))) / 100
        seen = not note.label.is_clean and uniform("see", note.id) < 0.3 + skill
        noise = uniform("noise", block, note.id, sample)
        return Judgement(round((5 if seen else 8) + noise, 3), Outcome.OK, ())


@dataclass
class CountingReflector:
    """Proposes blocks numbered by the item, a little better or worse; never the same twice."""

    def _proposal(self, item: str) -> Proposal:
        return Proposal(f"block {item} {int(9 * uniform('skill', item))}", ())

    async def rewrite(self, context: RewriteContext) -> Proposal:
        """A new block."""
        return self._proposal(context.item)

    async def merge(self, context: MergeContext) -> Proposal:
        """A new block."""
        return self._proposal(f"{context.item}m")


Body = TypeVar("Body")


class ListJournal:
    """Keeps events in memory."""

    def __init__(self) -> None:
        self.events: list[Deterministic] = []

    def append(self, event: Deterministic, /) -> None:
        """Record one event."""
        self.events.append(event)

    def of(self, kind: type[Body]) -> list[Body]:
        """Events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


@dataclass(frozen=True, slots=True)
class Size:
    """How much data a made search has: consultations of reflect and accept, errored notes each."""

    reflect: int = 12
    accept: int = 6
    errored: int = 4


@dataclass(frozen=True)
class Doubles:
    """What stands in for student, reflector and acceptance."""

    student: SkillStudent = field(default_factory=SkillStudent)
    reflector: Reflector = field(default_factory=CountingReflector)
    acceptance: Acceptance = field(default_factory=MinibatchImprovement)


@dataclass
class Bench:
    """A search ready to run: `search.run()`."""

    search: Search
    journal: Any
    student: SkillStudent
    spending: Spending


def build_search(
    runner: asyncio.Runner,
    *,
    settings: SearchSettings,
    seed: int = 1,
    size: Size | None = None,
    journal: Any = None,
    doubles: Doubles | None = None,
) -> Bench:
    """A search over made consultations with one seed block, scored on accept."""
    doubles = doubles or Doubles()
    student = doubles.student
    journal = ListJournal() if journal is None else journal
    size = size or Size()
    spending = Spending(lambda _: Spent(calls=1))
    evaluator = Evaluator(student, Budget(100), runner, journal=journal, spending=spending)
    notes = tuple(n for k in range(size.accept) for n in consultation(1000 + k, size.errored).notes)
    pool, frontier = Pool(), Frontier(win_tie_loss([note.label for note in notes]))
    seeded = _seed(evaluator, notes)
    pool.add(seeded)
    frontier.add(seeded.id, scores_of(seeded))
    search = Search(
        seed=seed,
        reflect=tuple(consultation(k, size.errored) for k in range(size.reflect)),
        accept=notes,
        evaluator=evaluator,
        reflector=doubles.reflector,
        guard=Guard(FRAME, LengthCap(), NOTHING_PROTECTED),
        reward=rank_reward((0.0, 10.0)),
        acceptance=doubles.acceptance,
        objective=PairedFirst(settings.primary),
        minibatch=ConsultationFirst(settings.minibatch_consultations, settings.minibatch_errored),
        settings=settings,
        journal=journal,
        runner=runner,
        spending=spending,
        pool=pool,
        frontier=frontier,
    )
    return Bench(search, journal, student, spending)


def _seed(evaluator: Evaluator, notes: tuple[Note, ...]) -> Candidate:
    block = "seed block 0"
    scored = evaluator.judge(block, notes, Occasion(Purpose.SEED, "accept", "c00"), samples=1)
    return Candidate(
        id="c00",
        kind=Origin.SEED,
        parents=(),
        iteration=0,
        status=Status.ENTERED,
        block=block,
        sha256=sha256_text(block),
        length=len(block),
        name="seed",
        accept=scored.table,
    )
