"""Events about the process that works on a run; a resumed run does not compute them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from heldout.gepa.gate.decision import Unwritten
from heldout.gepa.record.kinds import EventKind, FinishReason
from heldout.gepa.spending import Spent
from heldout.splits.heldout.looks import Family
from heldout.students.models.chat import Budget


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """A model of the run and what it may spend on one call."""

    model: str
    temperature: float | None = None
    budget: Budget
    design: Annotated[str | None, Unwritten] = None
    """Judge design; the student only."""
    parameters: Annotated[Mapping[str, Any] | None, Unwritten] = None
    """Extra parameters of the provider; the student only."""
    structured: Annotated[str | None, Unwritten] = None
    """How the endpoint is told what an answer looks like, where it is."""


@dataclass(frozen=True, kw_only=True)
class OpenedEvent:
    """A session began a run: who it is, and what it was made with."""

    event_kind: ClassVar[EventKind] = EventKind.OPENED

    run_id: str
    name: str
    """Name of the campaign."""
    seed: int
    acknowledge_reuse: bool
    """True where the run may look beyond the plan, as exploratory."""
    config_sha256: str
    """Digest of the resolved configuration as it stands in `config.yaml`."""
    raised: tuple[str, ...] = ()
    """Caps raised for this session, as `budget.<cap>=<value>`."""
    left_out: Annotated[tuple[str, ...], Unwritten] = ()
    """Notes that may go unanswered from this session on."""
    family: Family | None = None
    """Targets declared together with this run's own."""
    student: ModelFacts
    reflector: ModelFacts
    reuse: str
    """`store.reuse`: whether calls of other runs could be used."""
    tracking_text: str
    """What of texts goes to MLflow: `full` or `hashes`."""
    simulated: bool
    """True where a model of the run was a simulated one."""
    notices: tuple[str, ...] = ()
    """What was said of the data before the run began."""
    versions: Mapping[str, str]
    """Version by package, `python` among them."""
    source_sha256: str
    """Digest of the sources of Heldout."""
    commit: str | None
    """Commit of the checkout, None outside one."""
    dirty: tuple[str, ...] | None
    """Changed paths of the checkout."""
    platform: str
    parts: Annotated[Mapping[str, str] | None, Unwritten] = None
    """Digest of the source by import path, for parts that are not built in."""
    schema: Annotated[int | None, Unwritten] = None
    """Version of the events, not recorded before version 2."""


@dataclass(frozen=True, kw_only=True)
class ResumedEvent(OpenedEvent):
    """A session went on with a run; the fields are those of the session that goes on."""

    event_kind: ClassVar[EventKind] = EventKind.RESUMED


@dataclass(frozen=True, kw_only=True)
class StoppedEvent:
    """What stopped a session."""

    event_kind: ClassVar[EventKind] = EventKind.STOPPED

    finish_reason: FinishReason
    exit_status: int
    message: str
    unanswered: Annotated[Mapping[str, str] | None, Unwritten] = None
    """Kind of fault by id, for notes that were not answered; resume may leave these out."""


@dataclass(frozen=True, kw_only=True)
class Replies:
    """What some replies took, in tokens."""

    count: int
    at_cap: int
    """Replies cut at their cap."""
    completion_median: float
    reasoning_median: float
    cap: int


@dataclass(frozen=True, kw_only=True)
class BlockReplies(Replies):
    """What the replies to one candidate's block took."""

    candidate: str
    needed: int | None
    """Least tokens in which a transcript's facts can be gone through; None where not asked for."""


@dataclass(frozen=True, kw_only=True)
class AllReplies:
    """What the replies of a run took, by stage and by block."""

    stages: Mapping[str, Replies]
    blocks: tuple[BlockReplies, ...]


@dataclass(frozen=True, kw_only=True)
class CallsEvent:
    """What a session asked of models."""

    event_kind: ClassVar[EventKind] = EventKind.CALLS

    requests: int
    answered: int
    from_store: int
    faults: Mapping[str, int]
    """Failed requests by kind of fault."""
    maybe_twice: tuple[str, ...]
    """Calls in flight when the last session died."""
    abandoned: Annotated[tuple[str, ...], Unwritten] = ()
    """Calls in flight when time was up; they may be bought again."""
    replies: AllReplies
    stored: Annotated[int | None, Unwritten] = None
    """Calls in the run's store when the session ended."""
    stored_sha256: Annotated[str | None, Unwritten] = None
    """Digest of these calls with their replies, in the order in which they were stored."""
    estimated: Annotated[int | None, Unwritten] = None
    """Calls of the run whose tokens were counted here, because their endpoint does not count."""


@dataclass(frozen=True, kw_only=True)
class RenderedEvent:
    """Pages were written from the journal so far; no part of the run that they show."""

    event_kind: ClassVar[EventKind] = EventKind.RENDERED

    pages: Mapping[str, str]
    """SHA-256 by file name, within the run directory."""
    version: str
    """Version of Heldout that wrote them."""


@dataclass(frozen=True, kw_only=True)
class FirstAnswer:
    """What a model answered before held-out was looked at."""

    role: str
    """`student` or `reflector`."""
    model: str
    served: str
    """The name that the provider says it served."""
    finish: str
    latency_s: float
    spent: Spent
    """What it cost; no part of what evaluations and iterations spent."""


@dataclass(frozen=True, kw_only=True)
class AnsweredEvent:
    """Every connected model answered its first call, so that the run can begin."""

    event_kind: ClassVar[EventKind] = EventKind.ANSWERED

    models: tuple[FirstAnswer, ...]


Remark = OpenedEvent | ResumedEvent | StoppedEvent | CallsEvent | RenderedEvent | AnsweredEvent
"""Events that record what happened to the process: a resumed run does not recompute them."""
