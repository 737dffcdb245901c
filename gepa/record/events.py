"""The events of a run, typed: everything a reader of a journal can rely on.

An event is a frozen dataclass; `heldout.gepa.record.codec` writes it as the body of a line and
reads it back, and nothing else does. Deterministic events are recomputed and compared when a run
is resumed. Remarks (`Remark`) are not: they record what happened to the process. Times stand on
the line, never in a body. Scores are by note id; no event holds a word of any note or transcript.
Rates lie in [0, 1]; hashes are lower-case SHA-256. `docs/events.md` is made from this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from heldout.gepa.acceptance import MinibatchComparison
from heldout.gepa.candidates import Origin, Status
from heldout.gepa.gate.decision import Decision, PreGate, Unwritten
from heldout.gepa.gate.settings import GateSettings
from heldout.gepa.record.kinds import EventKind, FinishReason, Phase, Purpose
from heldout.gepa.settings import ConfirmSettings, Primary, SearchSettings
from heldout.gepa.spending import Spent
from heldout.gepa.statistics.measures import Measures
from heldout.splits.benchmark import (
    CleanMeans,
    NoteClass,
    NoteLabel,
    Severity,
    TraceLevel,
)
from heldout.splits.heldout.looks import LookEvent
from heldout.students.models.chat import Budget

# -- data and settings -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class BenchmarkEntry:
    """What the benchmark declares of itself."""

    name: str
    version: str
    digest: str
    clean_means: CleanMeans
    public: bool
    has_transcripts: bool


@dataclass(frozen=True, kw_only=True)
class SplitEntry:
    """One split of the partition."""

    digest: str
    consultations: int
    notes: int


@dataclass(frozen=True, kw_only=True)
class NoteEntry:
    """The label of one note and the split it is in; its id is the key it stands under."""

    split: str
    consultation: str
    stratum: str
    note_class: Annotated[NoteClass, Field(alias="class")]
    twin: str
    trace: TraceLevel | None
    severity: Severity | None
    source: str
    pair_id: str | None

    @classmethod
    def of(cls, label: NoteLabel, split: str) -> NoteEntry:
        """The entry of a label."""
        names = cls.__dataclass_fields__.keys() - {"split"}
        return cls(split=split, **{name: getattr(label, name) for name in names})

    def label(self, id_: str) -> NoteLabel:
        """The label that stands under `id_`."""
        fields = {name: value for name, value in vars(self).items() if name != "split"}
        return NoteLabel(id=id_, **fields)


@dataclass(frozen=True, kw_only=True)
class PartitionEvent:
    """The partition was verified against the data."""

    event_kind: ClassVar[EventKind] = EventKind.PARTITION

    manifest_sha256: str
    benchmark: BenchmarkEntry
    splits: Mapping[str, SplitEntry]
    """By name: `reflect`, `accept`, `heldout`."""
    labels: Mapping[str, NoteEntry]
    """By note id."""
    planned_looks: int
    warnings: tuple[str, ...]
    caveats: tuple[str, ...]
    """What no figure of this run shows, known before its first call."""
    seen_before: Annotated[tuple[str, ...], Unwritten] = ()
    """What others did with the held-out consultations before, by another manifest."""


@dataclass(frozen=True, kw_only=True)
class SettingsEvent:
    """Every setting of search, confirmation and gate, on record before the baseline."""

    event_kind: ClassVar[EventKind] = EventKind.SETTINGS

    seeds: Mapping[str, str]
    """Hash of each seed block by its name."""
    baseline: str
    """Name of the seed that the winner is compared with."""
    search: SearchSettings
    confirm: ConfirmSettings
    gate: GateSettings
    reward: Mapping[str, Any]
    """`name` and fields of the reward; so for `acceptance` and `objective`."""
    acceptance: Mapping[str, Any]
    objective: Mapping[str, Any]
    budget: Budget
    frame_sha256: str


@dataclass(frozen=True, kw_only=True)
class PhaseEvent:
    """A phase began."""

    event_kind: ClassVar[EventKind] = EventKind.PHASE

    name: Phase


@dataclass(frozen=True, kw_only=True)
class ControlEvent:
    """Word counts of the notes of a split, and what counting words scores there."""

    event_kind: ClassVar[EventKind] = EventKind.CONTROL

    split: str
    words: Mapping[str, int]
    measures: Measures


# -- the search ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class EvaluationEvent:
    """One block was judged on some notes."""

    event_kind: ClassVar[EventKind] = EventKind.EVALUATION

    purpose: Purpose
    split: str
    candidate: str | None
    """Id of the candidate; None for the baseline on held-out."""
    iteration: int
    replicate: int
    samples: int
    """Judgings behind each score."""
    block_sha256: str
    frame_sha256: str
    budget: Budget
    scores: Mapping[str, float | None]
    """By note id; None for a note without an answer."""
    flagged: tuple[str, ...] | None
    """Notes that the design's own rule flags; None for a design without one."""
    violations: Mapping[str, str]
    """Outcome by note id, for notes without an answer."""
    facts_sha256: str | None
    """Digest of the facts that the judgements rest on, for designs that have some."""
    calls_sha256: str
    """Digest of the keys of the calls used."""
    spent: Spent
    """What the calls cost that no earlier event had settled."""
    bought_by: Annotated[str | None, Unwritten] = None
    """The run that bought this look before."""


@dataclass(frozen=True, kw_only=True)
class LeftOutEvent:
    """A note was not answered in an evaluation, and a person had let the run go on without it."""

    event_kind: ClassVar[EventKind] = EventKind.LEFT_OUT

    note: str
    split: str
    purpose: Purpose
    candidate: str | None
    """Id of the candidate; None for the baseline on held-out."""
    iteration: int
    replicate: int
    block_sha256: str
    fault: str
    """Kind of fault that the last request ended in."""
    under_baseline: bool
    """True where it failed under the baseline too: its pairs leave every figure from here on.
    False: it counts as unanswered for this block alone, a loss."""
    spent: Spent
    """What asking the baseline cost, and the pairs that left."""
    bought_by: Annotated[str | None, Unwritten] = None
    """The run that bought the look in which it failed."""


@dataclass(frozen=True, kw_only=True)
class CandidateEvent:
    """One seed or proposal."""

    event_kind: ClassVar[EventKind] = EventKind.CANDIDATE

    id: str
    kind: Origin
    parents: tuple[str, ...]
    iteration: int
    status: Status
    block: str | None
    """The text; None where there is none or it must not be stored."""
    sha256: str | None
    length: int
    """Characters of the block."""
    name: str | None
    """Name of a seed."""
    reason: str | None
    """Why it was rejected."""
    detail: str | None
    minibatch: MinibatchComparison | None
    accept: Measures | None

    def on_accept(self, primary: Primary) -> float | None:
        """A paired figure on accept, None where there is none."""
        return None if self.accept is None else self.accept.primary(primary)


@dataclass(frozen=True, kw_only=True)
class IterationEvent:
    """What an iteration did, and what had been spent after it."""

    event_kind: ClassVar[EventKind] = EventKind.ITERATION

    iteration: int
    kind: Origin
    candidate: str
    minibatch: tuple[str, ...]
    """Ids of the notes drawn."""
    best: float
    """Best first figure of the objective so far."""
    since_best: int
    """Iterations since then."""
    frontier: int
    """Candidates on the frontier."""
    traces_left_out: int
    """Traces that did not fit into the reflector's request."""
    judgements: int
    spent: Spent


@dataclass(kw_only=True)
class MergeCounters:
    """What became of merges."""

    scheduled: int = 0
    """Merges that were due."""
    ineligible: int = 0
    """Due, but without two candidates that lead on different notes."""
    built: int = 0
    """Proposed."""
    accepted: int = 0
    """Entered."""


@dataclass(frozen=True, kw_only=True)
class SearchEndEvent:
    """Why the search ended."""

    event_kind: ClassVar[EventKind] = EventKind.SEARCH_END

    reason: FinishReason
    merges: MergeCounters


@dataclass(frozen=True, kw_only=True)
class MeasuresPair:
    """Figures of baseline and winner on the same notes."""

    baseline: Measures
    winner: Measures


@dataclass(frozen=True, kw_only=True)
class WinnerEvent:
    """The candidate chosen on accept."""

    event_kind: ClassVar[EventKind] = EventKind.WINNER

    id: str
    kind: Origin
    iteration: int
    sha256: str | None
    accept: MeasuresPair


# -- the decision ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PreGateEvent(PreGate):
    """What accept said of buying the look; differences are winner minus baseline."""

    event_kind: ClassVar[EventKind] = EventKind.PRE_GATE


@dataclass(frozen=True, kw_only=True)
class DriftEvent:
    """The baseline judged again when the winner was confirmed, beside its earlier judging."""

    event_kind: ClassVar[EventKind] = EventKind.DRIFT

    notes: int
    """Notes answered both times."""
    mean_change: float | None
    """Mean change of a score, as a share of the score range; of older runs its absolute value."""
    level: Annotated[float | None, Unwritten] = None
    """Of older runs: the change from which on the result is refused."""
    score_p: Annotated[float | None, Unwritten] = None
    """Two-sided p of the change of scores."""
    credit_change: Annotated[float | None, Unwritten] = None
    """Change of the primary paired figure."""
    credit_p: Annotated[float | None, Unwritten] = None
    """Two-sided p of that change."""
    moved: Annotated[bool | None, Unwritten] = None
    """True if the judge is shown to have moved; None in older runs."""
    refuses: bool


@dataclass(frozen=True, kw_only=True)
class HeldoutMeasures(MeasuresPair):
    """Figures on held-out."""

    looks: int
    """Planned looks used up to and with this one."""
    exploratory: bool
    """True where the look was beyond the plan."""
    beside: Annotated[Measures | None, Unwritten] = None
    """The baseline's other judging: before the search, or afresh where that one was compared."""


@dataclass(frozen=True, kw_only=True)
class GateEvent(Decision):
    """The decision with every figure behind it; also the content of `gate.json`."""

    event_kind: ClassVar[EventKind] = EventKind.GATE

    heldout: HeldoutMeasures | None = None
    drift: Annotated[DriftEvent | None, Unwritten] = None
    word_count: float | None
    """Paired omissions on held-out of a judge that counts words."""
    caveats: tuple[str, ...]
    """What these figures do not show."""
    simulated: bool


@dataclass(frozen=True, kw_only=True)
class EmissionEvent:
    """Prompt file and card were written; names are within the run directory."""

    event_kind: ClassVar[EventKind] = EventKind.EMISSION

    prompt_file: str
    prompt_sha256: str
    card_file: str
    card_sha256: str


@dataclass(frozen=True, kw_only=True)
class FinishedEvent:
    """The campaign came to its decision."""

    event_kind: ClassVar[EventKind] = EventKind.FINISHED

    finish_reason: FinishReason
    decision: str
    reason: str | None
    lineage_sha256: str
    spent: Spent
    judgements: int


Deterministic = (
    PartitionEvent
    | SettingsEvent
    | PhaseEvent
    | LookEvent
    | EvaluationEvent
    | LeftOutEvent
    | ControlEvent
    | CandidateEvent
    | IterationEvent
    | SearchEndEvent
    | WinnerEvent
    | PreGateEvent
    | DriftEvent
    | GateEvent
    | EmissionEvent
    | FinishedEvent
)
"""Events that are the same whenever the run is computed again."""
