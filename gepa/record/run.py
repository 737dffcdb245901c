"""The read model: what a run is, computed from its journal. Every page and command reads this.

`Run` grows by one event at a time, so that a live run can be followed; what it says of a candidate
depends on events up to that candidate alone, so that a page written early is final.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from heldout.gepa.candidates import Origin, Status
from heldout.gepa.frontier import Frontier, Valuation, raw_reward, win_tie_loss
from heldout.gepa.record.codec import Event, plain
from heldout.gepa.record.events import (
    AllReplies,
    CallsEvent,
    CandidateEvent,
    ControlEvent,
    DriftEvent,
    EmissionEvent,
    EvaluationEvent,
    FinishedEvent,
    FinishReason,
    GateEvent,
    IterationEvent,
    MeasuresPair,
    OpenedEvent,
    PartitionEvent,
    PreGateEvent,
    Purpose,
    ResumedEvent,
    SearchEndEvent,
    SettingsEvent,
    StoppedEvent,
    WinnerEvent,
)
from heldout.gepa.record.journal import read_journal
from heldout.gepa.reward import RankReward
from heldout.gepa.settings import Primary
from heldout.gepa.spending import Spent
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import NoteLabel
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_json
from heldout.splits.heldout.looks import LookEvent

RESUMABLE = (3, 4)
"""Exit statuses after which `resume` continues a run."""

CHOSEN = ("id", "kind", "iteration", "sha256")
"""What is printed of the winner; its figures stand under `accept`."""

Scores = Mapping[str, float | None]
Body = TypeVar("Body")


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: milliseconds since 1970 and calls settled by then."""

    time_ms: int
    calls: int


@dataclass(frozen=True, kw_only=True)
class HeldoutFigures(MeasuresPair):
    """What held-out showed: both blocks, the primary difference, and looks used."""

    difference: Interval | None
    looks: int


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
    def merges(self) -> int:
        """Proposals made of two candidates."""
        return sum(c.kind is Origin.MERGE for c in self.values())

    def counts(self) -> dict[str, int]:
        """`{seeds, proposed, entered, rejected, merges}`."""
        names = ("seeds", "proposed", "entered", "rejected", "merges")
        return {name: getattr(self, name) for name in names}


class Run:
    """A run as its journal tells it, finished or not.

    `directory` is where it lies, None for events that came from nowhere. What has not happened yet
    is None or empty. Raises nothing for an empty journal, but `opened` raises BadInput then.
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
        self.moments: dict[str, Moment] = {}
        self._newest: dict[type, Any] = {}
        self._opened: OpenedEvent | None = None
        self._occasions: dict[tuple[Purpose, str | None, int], EvaluationEvent] = {}
        self._calls = 0
        self._leads: tuple[int, Mapping[str, int]] = (0, {})

    @classmethod
    def of(cls, events: Iterable[Event], directory: Path | None = None) -> Run:
        """The run that `events` tell of."""
        run = cls(directory)
        for event in events:
            run.add(event)
        return run

    @classmethod
    def at(cls, directory: Path) -> Run:
        """The run in `directory`, without events where it has no journal yet.

        Raises JournalBroken, naming the line, where the chain does not hold.
        """
        path = directory / "journal.jsonl"
        return cls.of(read_journal(path) if path.is_file() else (), directory)

    def add(self, event: Event) -> None:
        """Take in the next event."""
        self.events.append(event)
        body = event.body
        self._newest[type(body)] = body
        match body:
            case ResumedEvent():
                self.raised += body.raised
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

    # -- what was fixed before the search ----------------------------------------------------------

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

    @property
    def run_id(self) -> str | None:
        """Identity of the run."""
        return None if self._opened is None else self._opened.run_id

    @property
    def name(self) -> str | None:
        """Name of the campaign."""
        return None if self._opened is None else self._opened.name

    @property
    def run_dir(self) -> Path | None:
        """Where the run lies, an absolute path."""
        return self.directory

    @property
    def simulated(self) -> bool | None:
        """True where a model of the run was a simulated one, also where only its name says so."""
        if self._opened is None:
            return None
        models = (self._opened.student.model, self._opened.reflector.model)
        return self._opened.simulated or any(model.startswith("sim/") for model in models)

    @property
    def partition(self) -> PartitionEvent | None:
        """The verified partition."""
        return self.newest(PartitionEvent)

    @property
    def settings(self) -> SettingsEvent | None:
        """Settings of search, confirmation and gate."""
        return self.newest(SettingsEvent)

    @property
    def rule(self) -> str | None:
        """The gate rule chosen before the run."""
        return None if self.settings is None else self.settings.gate.rule

    @property
    def primary(self) -> Primary:
        """The measure that the gate tests."""
        return self.settings.search.primary if self.settings else "paired_omissions"

    # -- how far it has come -----------------------------------------------------------------------

    @property
    def status(self) -> str:
        """`running`, `finished`, `stopped` (resumable) or `failed`."""
        return self._ending[0]

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the search or the run ended, None while it runs."""
        return self._ending[1]

    @property
    def _ending(self) -> tuple[str, FinishReason | None]:
        if self.finished is not None:
            return "finished", self.finished.finish_reason
        for event in reversed(self.events):
            match event.body:
                case StoppedEvent(finish_reason=reason, exit_status=status):
                    return "stopped" if status in RESUMABLE else "failed", reason
                case OpenedEvent():
                    break
        return "running", None

    @property
    def finished(self) -> FinishedEvent | None:
        """The last deterministic event of a finished run."""
        return self.newest(FinishedEvent)

    @property
    def search_end(self) -> SearchEndEvent | None:
        """Why the search ended."""
        return self.newest(SearchEndEvent)

    @property
    def spent(self) -> Spent | None:
        """What had been spent by the newest settled event, None before the first iteration."""
        if self.finished is not None:
            return self.finished.spent
        return self.iterations[-1].spent if self.iterations else None

    @property
    def budget(self) -> RunCost:
        """What the run has spent so far, evaluations after the newest settled event included."""
        total, later = Spent(), Spent()
        for event in self.events:
            match event.body:
                case FinishedEvent(spent=spent) | IterationEvent(spent=spent):
                    total, later = spent, Spent()
                case EvaluationEvent(spent=spent):
                    later = later + spent
        spent = (total + later).rounded()
        return RunCost(spent.calls, spent.tokens, spent.usd, round(self._wall_seconds(), 3))

    def _wall_seconds(self) -> float:
        """Seconds of work, summed over sessions; a clock set back counts 0."""
        total, start, last = 0.0, None, None
        for event in self.events:
            now = datetime.fromisoformat(event.time)
            if isinstance(event.body, OpenedEvent):
                total += _span(start, last)
                start = now
            last = now
        return total + _span(start, last)

    @property
    def calls(self) -> CallsEvent:
        """What was asked of models, over the sessions that came to an orderly end."""
        sessions = [e.body for e in self.events if isinstance(e.body, CallsEvent)]
        faults: Counter[str] = Counter()
        for session in sessions:
            faults.update(session.faults)
        return CallsEvent(
            requests=sum(s.requests for s in sessions),
            answered=sum(s.answered for s in sessions),
            from_store=sum(s.from_store for s in sessions),
            faults=dict(sorted(faults.items())),
            maybe_twice=tuple(call for s in sessions for call in s.maybe_twice),
            replies=sessions[-1].replies if sessions else AllReplies(stages={}, blocks=()),
        )

    # -- candidates --------------------------------------------------------------------------------

    @property
    def entered(self) -> list[CandidateEvent]:
        """Candidates that were scored on accept, seeds included, in commit order."""
        return [c for c in self.candidates.values() if c.status is Status.ENTERED]

    @property
    def baseline(self) -> CandidateEvent | None:
        """The seed that the winner is compared with, once it is scored."""
        name = None if self.settings is None else self.settings.baseline
        seeds = (c for c in self.candidates.values() if c.kind is Origin.SEED)
        return next((c for c in seeds if c.name == name), None)

    @property
    def winner(self) -> WinnerEvent | None:
        """The candidate chosen on accept."""
        return self.newest(WinnerEvent)

    @property
    def accept(self) -> MeasuresPair | None:
        """Accept figures of baseline and winner."""
        return None if self.winner is None else self.winner.accept

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
        for candidate in self.entered:
            scores = self.accept_scores(candidate.id)
            if scores is None:
                continue
            if frontier is None:
                frontier = Frontier(self._valuation([self.labels[id_] for id_ in scores]))
            frontier.add(candidate.id, scores)
        return {} if frontier is None else frontier.members

    def _valuation(self, labels: list[NoteLabel]) -> Valuation:
        if self.settings is None or self.settings.search.frontier == "win_tie_loss":
            return win_tie_loss(labels)
        fields = {key: self.settings.reward[key] for key in RankReward.__dataclass_fields__}
        return raw_reward(labels, RankReward(**fields))

    def evaluation(
        self, purpose: Purpose, candidate: str | None, iteration: int = 0
    ) -> EvaluationEvent | None:
        """The first evaluation of one candidate on one occasion, or None."""
        return self._occasions.get((purpose, candidate, iteration))

    def accept_scores(self, id_: str) -> Scores | None:
        """Accept scores of a candidate by note id; None where it did not enter."""
        candidate = self.candidates[id_]
        purpose = Purpose.SEED if candidate.kind is Origin.SEED else Purpose.ACCEPT
        found = self.evaluation(purpose, id_, candidate.iteration)
        return None if found is None else found.scores

    def accept_table(self, id_: str) -> ScoreTable | None:
        """Accept scores of a candidate as a table; None where it did not enter."""
        scores = self.accept_scores(id_)
        return None if scores is None else self.table(scores)

    def table(self, scores: Scores) -> ScoreTable:
        """Scores by note id as a table."""
        return ScoreTable.of([self.labels[id_] for id_ in scores], scores)

    # -- held-out and the decision -----------------------------------------------------------------

    @property
    def heldout(self) -> HeldoutFigures | None:
        """Held-out figures of baseline and winner, None without a look for the winner."""
        if self.gate is None or self.gate.heldout is None:
            return None
        found = self.gate.heldout
        return HeldoutFigures(
            baseline=found.baseline,
            winner=found.winner,
            difference=self.gate.difference,
            looks=found.looks,
        )

    def on_heldout(self, purpose: Purpose) -> list[EvaluationEvent]:
        """Held-out evaluations of the baseline or of the winner, one a replicate."""
        return [e for e in self.evaluations if e.purpose is purpose and e.split == "heldout"]

    def judged_on_heldout(self, purpose: Purpose, threshold: float | None = None) -> Judged | None:
        """Baseline or winner on held-out, all replicates, at a threshold frozen on accept."""
        tables = tuple(self.table(found.scores) for found in self.on_heldout(purpose))
        return Judged(tables, threshold=threshold) if tables else None

    @property
    def pre_gate(self) -> PreGateEvent | None:
        """What accept said of buying the look."""
        return self.newest(PreGateEvent)

    @property
    def drift(self) -> DriftEvent | None:
        """How far the baseline moved when it was judged afresh."""
        return self.newest(DriftEvent)

    @property
    def gate(self) -> GateEvent | None:
        """The decision with every figure behind it."""
        return self.newest(GateEvent)

    @property
    def decision(self) -> str | None:
        """`emitted`, `refused`, `not_confirmed`, or None while there is none."""
        return None if self.gate is None else self.gate.decision

    @property
    def reason(self) -> str | None:
        """Why it was not emitted."""
        return None if self.gate is None else self.gate.reason

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the held-out figures do not show."""
        return self.gate.caveats if self.gate else ()

    @property
    def emission(self) -> EmissionEvent | None:
        """The emitted files, None where nothing was emitted."""
        return self.newest(EmissionEvent)

    @property
    def prompt_file(self) -> Path | None:
        """The emitted prompt, an absolute path."""
        if self.emission is None or self.directory is None:
            return None
        return self.directory / self.emission.prompt_file

    @property
    def lineage_sha256(self) -> str:
        """Hash of ids, texts, parents, statuses, scores (9 decimals) and the decision.

        Times, costs, intervals and whatever happened to the process are not part of it: two runs
        with equal lineage found the same things.
        """
        candidates = [
            [
                c.id,
                c.kind,
                c.sha256,
                c.parents,
                c.iteration,
                c.status,
                c.reason,
                None if c.minibatch is None else plain(c.minibatch),
                self.accept_scores(c.id),
            ]
            for c in self.candidates.values()
        ]
        heldout = [
            [found.scores for found in self.on_heldout(purpose)]
            for purpose in (Purpose.BASELINE, Purpose.CONFIRM)
        ]
        return sha256_json([candidates, heldout, self.decision])

    def to_json(self) -> dict[str, Any]:
        """The object that `run`, `status` and `resume` print with `--json`; keys are attributes."""
        winner = self.winner
        return {
            "run_id": self.run_id,
            "name": self.name,
            "run_dir": None if self.run_dir is None else str(self.run_dir),
            "simulated": self.simulated,
            "status": self.status,
            "finish_reason": self.finish_reason,
            "decision": self.decision,
            "reason": self.reason,
            "rule": self.rule,
            "primary": self.primary,
            "winner": winner and {name: getattr(winner, name) for name in CHOSEN},
            "accept": self.accept and plain(self.accept),
            "heldout": self.heldout and plain(self.heldout),
            "caveats": list(self.caveats),
            "prompt_file": None if self.prompt_file is None else str(self.prompt_file),
            "candidates": self.candidates.counts(),
            "budget": plain(self.budget),
            "calls": plain(self.calls),
            "lineage_sha256": self.lineage_sha256,
        }


def load_run(run_dir: Path | str) -> Run:
    """The run in `run_dir`.

    Raises BadInput where there is no journal or one without an event, JournalBroken where its
    chain does not hold.
    """
    path = Path(run_dir)
    if not (path / "journal.jsonl").is_file():
        raise BadInput.one(str(path), "is no run directory (it has no journal.jsonl)")
    run = Run.at(path)
    if not run.has_begun:
        raise BadInput.one(str(path / "journal.jsonl"), "has no event yet")
    return run


def _span(start: datetime | None, end: datetime | None) -> float:
    return 0.0 if start is None or end is None else max(0.0, (end - start).total_seconds())
