"""The events of a run, kept where they are looked for: by class, by candidate, by occasion.

`RunEvents` grows by one event at a time; what an event means for the run says `Run`, made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from heldout.gepa.candidates import Origin
from heldout.gepa.record.codec import Event
from heldout.gepa.record.events import (
    CandidateEvent,
    ControlEvent,
    EvaluationEvent,
    IterationEvent,
    LeftOutEvent,
    PartitionEvent,
    SettingsEvent,
)
from heldout.gepa.record.journal import read_journal
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.remarks import OpenedEvent, RenderedEvent, ResumedEvent
from heldout.gepa.record.tables import candidates_frame, evaluations_frame, looks_frame
from heldout.gepa.record.totals import Candidates
from heldout.gepa.settings import Primary
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import NoteLabel
from heldout.splits.errors import BadInput
from heldout.splits.heldout.looks import LookEvent

if TYPE_CHECKING:
    import pandas as pd

Scores = Mapping[str, float | None]
Body = TypeVar("Body")


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: milliseconds since 1970 and calls settled by then."""

    time_ms: int
    calls: int


class RunEvents:
    """What a journal holds, event by event.

    `directory` is where the run lies, None for events that came from nowhere. Raises nothing for
    an empty journal, but `opened` raises BadInput then.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = None if directory is None else directory.resolve()
        self.events: list[Event] = []
        self.labels: dict[str, NoteLabel] = {}
        self.split_of: dict[str, str] = {}
        self.words: dict[str, int] = {}
        self.controls: dict[str, ControlEvent] = {}
        self.candidates = Candidates()
        self.iterations: list[IterationEvent] = []
        self.looks: list[LookEvent] = []
        self.evaluations: list[EvaluationEvent] = []
        self.raised: list[str] = []
        self.allowed: list[str] = []
        self.left_out: list[LeftOutEvent] = []
        self.rendered: list[RenderedEvent] = []
        self.moments: dict[str, Moment] = {}
        self._newest: dict[type, Any] = {}
        self._opened: OpenedEvent | None = None
        self._occasions: dict[tuple[Purpose, str | None, int], EvaluationEvent] = {}
        self._calls = 0

    @classmethod
    def of(cls, events: Iterable[Event], directory: Path | None = None) -> Self:
        """The run that `events` tell of."""
        run = cls(directory)
        for event in events:
            run.add(event)
        return run

    @classmethod
    def at(cls, directory: Path) -> Self:
        """The run in `directory`, without events where it has no journal yet.

        Raises JournalBroken, naming the line, where the chain does not hold.
        """
        path = directory / "journal.jsonl"
        return cls.of(read_journal(path) if path.is_file() else (), directory)

    def add(self, event: Event) -> None:
        """Take in the next event."""
        body = event.body
        if isinstance(body, RenderedEvent):
            # What is drawn of a run is no part of it: no page, cost or end depends on this.
            self.rendered.append(body)
            return
        self.events.append(event)
        self._newest[type(body)] = body
        match body:
            case ResumedEvent():
                self.raised += body.raised
                self.allowed += body.left_out
            case OpenedEvent():
                self._opened = self._opened or body
            case PartitionEvent():
                self.labels = {id_: entry.label(id_) for id_, entry in body.labels.items()}
                self.split_of = {id_: entry.split for id_, entry in body.labels.items()}
            case ControlEvent():
                self.controls[body.split] = body
                self.words.update(body.words)
            case LookEvent():
                self.looks.append(body)
            case EvaluationEvent():
                self.evaluations.append(body)
                self._occasions.setdefault((body.purpose, body.candidate, body.iteration), body)
                self._calls += body.spent.calls
            case LeftOutEvent():
                self.left_out.append(body)
                self._calls += body.spent.calls
            case CandidateEvent():
                self.candidates[body.id] = body
                self.moments[body.id] = self.moment(event)
            case IterationEvent():
                self.iterations.append(body)
                self._calls = body.spent.calls

    def moment(self, event: Event) -> Moment:
        """The moment of the newest event."""
        return Moment(round(datetime.fromisoformat(event.time).timestamp() * 1000), self._calls)

    def newest(self, kind: type[Body]) -> Body | None:
        """The newest event of a class, or None."""
        return self._newest.get(kind)

    @property
    def opened(self) -> OpenedEvent:
        """The first event. Raises BadInput before it."""
        if self._opened is None:
            where = "the journal" if self.directory is None else str(self.directory)
            raise BadInput.one(where, "has no event yet")
        return self._opened

    @property
    def has_begun(self) -> bool:
        """True once the first event is on record."""
        return self._opened is not None

    def evaluation(
        self, purpose: Purpose, candidate: str | None, iteration: int = 0
    ) -> EvaluationEvent | None:
        """The first evaluation of one candidate on one occasion, or None."""
        return self._occasions.get((purpose, candidate, iteration))

    def accept_scores(self, id_: str) -> Scores | None:
        """Accept scores of a candidate by note id; None where it did not enter.

        As for every figure, without the pairs that were left out of all.
        """
        candidate = self.candidates[id_]
        purpose = Purpose.SEED if candidate.kind is Origin.SEED else Purpose.ACCEPT
        found = self.evaluation(purpose, id_, candidate.iteration)
        return None if found is None else self.in_figures(found.scores)

    def accept_table(self, id_: str) -> ScoreTable | None:
        """Accept scores of a candidate as a table; None where it did not enter."""
        scores = self.accept_scores(id_)
        return None if scores is None else self.table(scores)

    def table(self, scores: Scores) -> ScoreTable:
        """Scores by note id as a table, without the pairs that were left out of every figure."""
        kept = self.in_figures(scores)
        return ScoreTable.of([self.labels[id_] for id_ in kept], kept)

    def in_figures(self, scores: Scores) -> Scores:
        """The scores of notes that were not left out, nor their twins."""
        gone = {event.note for event in self.left_out if event.under_baseline}
        if not gone:
            return scores
        labels = [self.labels[id_] for id_ in scores]
        return {x.id: scores[x.id] for x in labels if not {x.id, x.twin} & gone}

    @property
    def settings(self) -> SettingsEvent | None:
        """Settings of search, confirmation and gate."""
        return self.newest(SettingsEvent)

    @property
    def primary(self) -> Primary:
        """The measure that the gate tests."""
        return self.settings.search.primary if self.settings else "paired_omissions"

    # -- tables for a notebook ---------------------------------------------------------------------

    def candidates_table(self) -> pd.DataFrame:
        """A row a candidate, by id: origin, parents, status with its reason, accept figure."""
        return candidates_frame(self.candidates.values(), self.primary)

    def evaluations_table(self) -> pd.DataFrame:
        """A row a note of every evaluation: occasion, class of the note, score, flag, outcome."""
        return evaluations_frame(self.evaluations, self.labels)

    def looks_table(self) -> pd.DataFrame:
        """A row a look at held-out of this run, baselines included."""
        return looks_frame(self.looks)
