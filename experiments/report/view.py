"""A run as pages and tracking read it: the journal, indexed as its events arrive.

`RunView` grows by one event at a time, so that a live run can be followed; what it says of a
candidate depends on events up to that candidate alone, so that a page written early is final.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from heldout.gepa.candidates import Kind, Status
from heldout.gepa.evaluation import Purpose
from heldout.gepa.frontier import Frontier, Valuation, raw_reward, win_tie_loss
from heldout.gepa.record.events import Event, EventKind
from heldout.gepa.record.journal import read_journal
from heldout.gepa.record.labels import label_of
from heldout.gepa.record.run import Record
from heldout.gepa.reward import RankReward
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import NoteLabel
from heldout.splits.errors import BadInput

Body = Mapping[str, Any]
SIMULATED = "sim/"
RESUMABLE = (3, 4)
"""Exit statuses after which `resume` continues a run."""
SINGLE = (
    EventKind.OPENED,
    EventKind.PARTITION,
    EventKind.SETTINGS,
    EventKind.SEARCH_END,
    EventKind.WINNER,
    EventKind.PRE_GATE,
    EventKind.DRIFT,
    EventKind.GATE,
    EventKind.EMISSION,
    EventKind.FINISHED,
)
"""Kinds of which the newest event counts; of `opened` the first."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: milliseconds since 1970 and calls settled by then."""

    time_ms: int
    calls: int


class RunView:
    """Index over the events of one run, oldest first."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.labels: dict[str, NoteLabel] = {}
        self.split_of: dict[str, str] = {}
        self.words: dict[str, int] = {}
        self.controls: dict[str, Body] = {}
        self.candidates: dict[str, Body] = {}
        self.iterations: list[Body] = []
        self.looks: list[Body] = []
        self.raised: list[str] = []
        self.moments: dict[str, Moment] = {}
        self._single: dict[EventKind, Body] = {}
        self._evaluations: dict[tuple[str, str | None, int], list[Body]] = {}
        self._calls = 0
        self._leads: tuple[int, Mapping[str, int]] = (0, {})

    @classmethod
    def of(cls, events: Iterable[Event]) -> RunView:
        """The view of all `events`."""
        view = cls()
        for event in events:
            view.add(event)
        return view

    def add(self, event: Event) -> None:
        """Take in the next event."""
        self.events.append(event)
        body = event.body
        match event.kind:
            case EventKind.PARTITION:
                self._read_labels(body["labels"])
            case EventKind.CONTROL:
                self.controls[body["split"]] = body
                self.words.update(body["words"])
            case EventKind.LOOK:
                self.looks.append(body)
            case EventKind.EVALUATION:
                key = (body["purpose"], body["candidate"], body["iteration"])
                self._evaluations.setdefault(key, []).append(body)
                self._calls += body["spent"]["calls"]
            case EventKind.CANDIDATE:
                self.candidates[body["id"]] = body
                self.moments[body["id"]] = self.moment(event)
            case EventKind.ITERATION:
                self.iterations.append(body)
                self._calls = body["spent"]["calls"]
            case EventKind.RESUMED:
                self.raised += body.get("raised", ())
        if event.kind in SINGLE and not (event.kind is EventKind.OPENED and self.opened):
            self._single[event.kind] = body

    def moment(self, event: Event) -> Moment:
        """The moment of the newest event."""
        return Moment(milliseconds(event.time), self._calls)

    def _read_labels(self, labels: Mapping[str, Body]) -> None:
        for id_, body in labels.items():
            self.labels[id_] = label_of(id_, body)
            self.split_of[id_] = body["split"]

    # -- single events ---------------------------------------------------------------------------

    def last(self, kind: EventKind) -> Body | None:
        """The body of a kind of which a run has one, or None."""
        return self._single.get(kind)

    @property
    def opened(self) -> Body:
        """The first event, empty before it."""
        return self._single.get(EventKind.OPENED, {})

    @property
    def settings(self) -> Body:
        """The settings, empty before the partition phase is over."""
        return self._single.get(EventKind.SETTINGS, {})

    @property
    def partition(self) -> Body:
        """The partition, empty before it is verified."""
        return self._single.get(EventKind.PARTITION, {})

    @property
    def run_id(self) -> str:
        """Identity of the run. Raises KeyError before the first event."""
        return str(self.opened["run_id"])

    @property
    def name(self) -> str:
        """Name of the campaign."""
        return str(self.opened.get("name", "campaign"))

    @property
    def simulated(self) -> bool:
        """True where a model of the run was a simulated one."""
        models = [self.opened.get(who, {}).get("model", "") for who in ("student", "reflector")]
        return bool(self.opened.get("simulated")) or any(m.startswith(SIMULATED) for m in models)

    @property
    def decision(self) -> str | None:
        """`emitted`, `refused`, `not_confirmed`, or None while there is none."""
        gate = self.last(EventKind.GATE)
        return None if gate is None else str(gate["decision"])

    @property
    def status(self) -> str:
        """`running`, `finished`, `stopped` (resumable) or `failed`."""
        return self._ending[0]

    @property
    def finish_reason(self) -> str | None:
        """Why the search or the run ended, None while it runs."""
        return self._ending[1]

    @property
    def _ending(self) -> tuple[str, str | None]:
        finished = self.last(EventKind.FINISHED)
        if finished is not None:
            return "finished", str(finished["finish_reason"])
        for event in reversed(self.events):
            if event.kind is EventKind.STOPPED:
                resumable = event.body["exit_status"] in RESUMABLE
                return "stopped" if resumable else "failed", str(event.body["finish_reason"])
            if event.kind in (EventKind.OPENED, EventKind.RESUMED):
                break
        return "running", None

    @property
    def lineage_sha256(self) -> str:
        """Hash of what the run found, finished or not."""
        return Record.of(self.events).lineage_sha256

    @property
    def spent(self) -> Body | None:
        """What the run has spent by its newest settled event, None before the first iteration."""
        finished = self.last(EventKind.FINISHED)
        if finished is not None:
            spent: Body = finished["spent"]
            return spent
        return self.iterations[-1]["spent"] if self.iterations else None

    # -- candidates ------------------------------------------------------------------------------

    @property
    def entered(self) -> list[Body]:
        """Candidates that were scored on accept, in commit order."""
        return [body for body in self.candidates.values() if body["status"] == Status.ENTERED]

    @property
    def baseline(self) -> Body | None:
        """The seed that the winner is compared with, once it is scored."""
        name = self.settings.get("baseline")
        seeds = (b for b in self.candidates.values() if b["kind"] == Kind.SEED)
        return next((b for b in seeds if b["name"] == name), None)

    @property
    def winner(self) -> Body | None:
        """The candidate chosen on accept."""
        chosen = self.last(EventKind.WINNER)
        return None if chosen is None else self.candidates[chosen["id"]]

    @property
    def leads(self) -> Mapping[str, int]:
        """Examples led by each frontier candidate, as the search sees them now."""
        known = len(self.candidates)
        if self._leads[0] != known:
            self._leads = (known, self._frontier())
        return self._leads[1]

    def _frontier(self) -> Mapping[str, int]:
        """The frontier, built again from accept scores: the journal keeps its size only."""
        frontier: Frontier | None = None
        for body in self.entered:
            scores = self.accept_scores(body["id"])
            if scores is None:
                continue
            if frontier is None:
                frontier = Frontier(self._valuation([self.labels[id_] for id_ in scores]))
            frontier.add(body["id"], scores)
        return {} if frontier is None else frontier.members

    def _valuation(self, labels: list[NoteLabel]) -> Valuation:
        if self.settings["search"]["frontier"] == "win_tie_loss":
            return win_tie_loss(labels)
        fields = {key: self.settings["reward"][key] for key in ("low", "high", "slope")}
        return raw_reward(labels, RankReward(**fields))

    def evaluation(
        self, purpose: Purpose, candidate: str | None, iteration: int = 0
    ) -> Body | None:
        """The evaluation of one candidate on one occasion, or None."""
        found = self._evaluations.get((purpose, candidate, iteration))
        return found[0] if found else None

    def evaluations(self) -> Iterable[Body]:
        """All evaluations."""
        return (body for bodies in self._evaluations.values() for body in bodies)

    def accept_scores(self, id_: str) -> Mapping[str, float | None] | None:
        """Accept scores of a candidate by note id; None where it did not enter."""
        body = self.candidates[id_]
        purpose = Purpose.SEED if body["kind"] == Kind.SEED else Purpose.ACCEPT
        found = self.evaluation(purpose, id_, body["iteration"])
        scores: Mapping[str, float | None] | None = None if found is None else found["scores"]
        return scores

    def accept_table(self, id_: str) -> ScoreTable | None:
        """Accept scores of a candidate as a table; None where it did not enter."""
        scores = self.accept_scores(id_)
        return None if scores is None else self.table(scores)

    # -- held-out --------------------------------------------------------------------------------

    def heldout(self, purpose: Purpose, threshold: float | None = None) -> Judged | None:
        """Baseline or winner on held-out, all replicates, at a threshold frozen on accept."""
        bodies = [
            body
            for body in self.evaluations()
            if body["purpose"] == purpose and body["split"] == "heldout"
        ]
        if not bodies:
            return None
        return Judged(tuple(self.table(body["scores"]) for body in bodies), threshold=threshold)

    def table(self, scores: Mapping[str, float | None]) -> ScoreTable:
        """Scores by note id as a table."""
        return ScoreTable.of([self.labels[id_] for id_ in scores], scores)


def read_view(run_dir: Path) -> RunView:
    """The view of the run in `run_dir`.

    Raises BadInput where there is no journal, or one without a first event, JournalBroken where
    its chain does not hold.
    """
    path = run_dir / "journal.jsonl"
    if not path.is_file():
        raise BadInput.one(str(run_dir), "is no run directory (it has no journal.jsonl)")
    view = RunView.of(read_journal(path))
    if not view.opened:
        raise BadInput.one(str(path), "has no event yet")
    return view


def milliseconds(time: str) -> int:
    """Milliseconds since 1970 of a journal time."""
    return round(datetime.fromisoformat(time).timestamp() * 1000)
