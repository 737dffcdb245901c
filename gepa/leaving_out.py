"""Notes that are never answered: what a person lets go on without them, and what they count.

A campaign stops where a note fails while others are answered, and names it. Resumed with
`--leave-out` it goes on: the note is asked under the baseline too. Where that fails as well, its
pairs leave every block's figures from there on. Where it is answered, the note counts as
unanswered for the block alone, a loss: leaving those pairs out would let a block choose its own
test. Each time is an event, so that a resumed run does the same without asking again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from heldout.gepa.record.events import LeftOutEvent
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.run_events import RunEvents
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Note, NoteLabel
from heldout.splits.errors import NotesUnanswered, Unanswered

LARGEST_SHARE = 0.02
"""Of the notes of a split may be left out, but always one."""

LEFT_OUT = "left_out"
"""Outcome of a note in a look's result whose pairs left every figure."""


def most_left_out(notes: int) -> int:
    """How many of the `notes` of one split may be left out."""
    return max(1, int(LARGEST_SHARE * notes))


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What tells one evaluation from the others: block, purpose, iteration and replicate."""

    block_sha256: str
    purpose: Purpose
    iteration: int = 0
    replicate: int = 0


@dataclass
class LeaveOut:
    """Which notes may go unanswered in a campaign, and which have left its figures.

    `allowed` None: all of them, as where nothing is decided. `recorded` holds the events of earlier
    sessions, by evaluation and note.
    """

    allowed: frozenset[str] | None = frozenset()
    recorded: Mapping[Evaluated, Mapping[str, LeftOutEvent]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, run: RunEvents, allowed: Iterable[str] = ()) -> LeaveOut:
        """What is on record in `run`, and what this session allows beyond it."""
        recorded = dict[Evaluated, dict[str, LeftOutEvent]]()
        for left in run.left_out:
            key = Evaluated(left.block_sha256, left.purpose, left.iteration, left.replicate)
            recorded.setdefault(key, {})[left.note] = left
        return cls(frozenset((*run.allowed, *allowed)), recorded)

    def require(self, faults: Mapping[str, Unanswered]) -> None:
        """Raise NotesUnanswered for notes (by id) that may not go unanswered."""
        if self.allowed is None:
            return
        stopping = {id_: fault for id_, fault in faults.items() if id_ not in self.allowed}
        if stopping:
            why = dict.fromkeys(f"{f.kind} after {f.requests}" for f in stopping.values())
            raise NotesUnanswered({id_: f.kind for id_, f in stopping.items()}, tuple(why))

    def kept(self, notes: Iterable[Note]) -> tuple[Note, ...]:
        """The notes that are still in the figures, each errored one with its twin."""
        return tuple(note for note in notes if self.keeps(note.label))

    def keeps(self, label: NoteLabel) -> bool:
        """True unless the note or its twin has left the figures."""
        return not {label.id, label.twin} & self.gone

    def table(self, table: ScoreTable) -> ScoreTable:
        """The rows of `table` that are still in the figures."""
        scores = {label.id: s for label, s in zip(table.labels, table.scores, strict=True)}
        return ScoreTable.of([label for label in table.labels if self.keeps(label)], scores)
