"""Sums over the events of a run: what it spent, what it asked of models, how many candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from heldout.gepa.candidates import Origin, Status
from heldout.gepa.record.codec import Event
from heldout.gepa.record.events import (
    CandidateEvent,
    EvaluationEvent,
    FinishedEvent,
    IterationEvent,
    LeftOutEvent,
)
from heldout.gepa.record.remarks import AllReplies, AnsweredEvent, CallsEvent, OpenedEvent
from heldout.gepa.spending import Spent


@dataclass(frozen=True, slots=True)
class RunCost:
    """Calls, tokens and USD of a run (`usd` None once a price was unknown), and seconds of work."""

    calls: int
    tokens: int
    usd: float | None
    wall_s: float


class Candidates(dict[str, CandidateEvent]):
    """The candidates of a run by id, in the order of proposal, and how many there are of each."""

    @property
    def seeds(self) -> int:
        """Blocks the search began with."""
        return len(self) - self.proposed

    @property
    def proposed(self) -> int:
        """Rewrites and merges."""
        return sum(c.kind is not Origin.SEED for c in self.values())

    @property
    def entered(self) -> int:
        """Proposals that entered the pool."""
        found = (c for c in self.values() if c.kind is not Origin.SEED)
        return sum(c.status is Status.ENTERED for c in found)

    @property
    def rejected(self) -> int:
        """Proposals that did not."""
        return self.proposed - self.entered

    @property
    def unusable(self) -> Counter[str]:
        """Proposals that the guard turned away before any judging, by reason."""
        proposals = (c for c in self.values() if c.kind is not Origin.SEED)
        return Counter(c.reason or "rejected" for c in proposals if c.minibatch is None)

    @property
    def merges(self) -> int:
        """Proposals made of two candidates."""
        return sum(c.kind is Origin.MERGE for c in self.values())

    def counts(self) -> dict[str, int]:
        """`{seeds, proposed, entered, rejected, merges}`."""
        names = ("seeds", "proposed", "entered", "rejected", "merges")
        return {name: getattr(self, name) for name in names}


def cost_of(events: Sequence[Event]) -> RunCost:
    """What was spent by the newest event, evaluations after the newest settled one included."""
    total, later, first = Spent(), Spent(), Spent()
    for event in events:
        match event.body:
            case FinishedEvent(spent=spent) | IterationEvent(spent=spent):
                total, later = spent, Spent()
            case EvaluationEvent(spent=spent) | LeftOutEvent(spent=spent):
                later = later + spent
            case AnsweredEvent(models=models):
                first = sum((model.spent for model in models), first)
    spent = (first + total + later).rounded()
    return RunCost(spent.calls, spent.tokens, spent.usd, round(_wall_seconds(events), 3))


def calls_of(events: Sequence[Event]) -> CallsEvent:
    """What was asked of models, over the sessions that came to an orderly end."""
    sessions = [event.body for event in events if isinstance(event.body, CallsEvent)]
    faults: Counter[str] = Counter()
    for session in sessions:
        faults.update(session.faults)
    return CallsEvent(
        requests=sum(s.requests for s in sessions),
        answered=sum(s.answered for s in sessions),
        from_store=sum(s.from_store for s in sessions),
        faults=dict(sorted(faults.items())),
        maybe_twice=tuple(call for s in sessions for call in s.maybe_twice),
        abandoned=tuple(call for s in sessions for call in s.abandoned),
        replies=sessions[-1].replies if sessions else AllReplies(stages={}, blocks=()),
        estimated=sessions[-1].estimated if sessions else None,
    )


def _wall_seconds(events: Sequence[Event]) -> float:
    """Seconds of work, summed over sessions; a clock set back counts 0."""
    total, start, last = 0.0, None, None
    for event in events:
        now = datetime.fromisoformat(event.time)
        if isinstance(event.body, OpenedEvent):
            total += _span(start, last)
            start = now
        last = now
    return total + _span(start, last)


def _span(start: datetime | None, end: datetime | None) -> float:
    return 0.0 if start is None or end is None else max(0.0, (end - start).total_seconds())
