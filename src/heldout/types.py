"""What a part of one's own is made of: protocols, what they take and give, events, errors.

| key of the configuration | protocol | takes | gives |
|---|---|---|---|
| `student.design` | `Student`, of a `DesignContext` | block, `Note`, `Budget` | `Judgement` |
| `reflector.kind` | `Reflector` | `RewriteContext`, `MergeContext` | `Proposal` |
| `search.objective` | `Objective` | `ScoreTable` | a rank, higher is better |
| `search.acceptance` | `Acceptance` | `MinibatchComparison`, ranks | yes or no |
| `search.minibatch` | `Minibatch` | `Consultation`s of reflect | `Note`s |
| `gate.rule` | `Rule` | `Difference` | `RuleVerdict` |

`heldout.testing` checks each of them. `Observer` is what `heldout.run` takes as `observers`; it is
told of `Event`s, whose `body` is one of the event classes.
"""

from __future__ import annotations

from heldout.experiments.analysis.compare import Comparison
from heldout.experiments.analysis.power import PowerReport
from heldout.experiments.judging.command import JudgeReport
from heldout.gepa.acceptance import Acceptance, MinibatchComparison
from heldout.gepa.gate.decision import Decision
from heldout.gepa.gate.rules import Rule, RuleVerdict
from heldout.gepa.minibatch import Minibatch
from heldout.gepa.objective import Objective, Rank
from heldout.gepa.record.codec import Event
from heldout.gepa.record.events import (
    CandidateEvent,
    ControlEvent,
    DriftEvent,
    EmissionEvent,
    EvaluationEvent,
    FinishedEvent,
    GateEvent,
    IterationEvent,
    PartitionEvent,
    PhaseEvent,
    PreGateEvent,
    SearchEndEvent,
    SettingsEvent,
    WinnerEvent,
)
from heldout.gepa.record.journal import Observer
from heldout.gepa.record.kinds import FinishReason, Phase, Purpose
from heldout.gepa.record.remarks import CallsEvent, OpenedEvent, ResumedEvent, StoppedEvent
from heldout.gepa.record.run import Run
from heldout.gepa.reward import Reward
from heldout.gepa.statistics.difference import Difference
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.measures import Measures
from heldout.gepa.statistics.table import ScoreTable
from heldout.reflectors.prompts import Terms
from heldout.reflectors.reflector import (
    JudgedPair,
    MergeContext,
    Proposal,
    Reflector,
    RewriteContext,
)
from heldout.splits.benchmark import (
    Benchmark,
    CleanMeans,
    Consultation,
    Note,
    NoteClass,
    NoteLabel,
    Severity,
    TraceLevel,
)
from heldout.splits.errors import (
    BadInput,
    CallMissing,
    CallRefused,
    CircuitOpen,
    Fault,
    HardCapReached,
    HeldoutError,
    InfrastructureFailure,
    JournalBroken,
    JournalMismatch,
    LooksSpent,
    Stopped,
    StopRequested,
    StoreUnavailable,
    UserFault,
)
from heldout.splits.heldout.looks import LookEvent
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.completion import Completion, CompletionClient, RequestBuilder
from heldout.students.designs.context import DesignContext
from heldout.students.frames import Frame
from heldout.students.models.chat import (
    Budget,
    ChatModel,
    ChatReply,
    ChatRequest,
    Message,
    ModelPin,
    StopReason,
    Usage,
)
from heldout.students.student import Judgement, Outcome, ReportedGap, Student

__all__ = [
    "Acceptance", "BadInput", "Benchmark", "Budget", "CallMissing", "CallRefused", "CallSpec",
    "CallsEvent", "CandidateEvent", "ChatModel", "ChatReply", "ChatRequest", "CircuitOpen",
    "CleanMeans", "Comparison", "Completion", "CompletionClient", "Consultation",
    "ControlEvent", "Decision", "DesignContext", "Difference", "DriftEvent", "EmissionEvent",
    "EvaluationEvent", "Event", "Fault", "FinishReason", "FinishedEvent", "Frame", "GateEvent",
    "HardCapReached", "HeldoutError", "InfrastructureFailure", "Interval", "IterationEvent",
    "JournalBroken", "JournalMismatch", "JudgeReport", "JudgedPair", "Judgement", "LookEvent",
    "LooksSpent", "Measures", "MergeContext", "Message", "Minibatch", "MinibatchComparison",
    "ModelPin", "Note", "NoteClass", "NoteLabel", "Objective", "Observer", "OpenedEvent",
    "Outcome", "PartitionEvent", "Phase", "PhaseEvent", "PowerReport", "PreGateEvent",
    "Proposal", "Purpose", "Rank", "Reflector", "ReportedGap", "RequestBuilder", "ResumedEvent",
    "Reward", "RewriteContext", "Rule", "RuleVerdict", "Run", "ScoreTable", "SearchEndEvent",
    "SettingsEvent", "Severity", "Stage", "StopReason", "StopRequested", "Stopped",
    "StoppedEvent", "StoreUnavailable", "Student", "Terms", "TraceLevel", "Usage", "UserFault",
    "WinnerEvent",
]  # fmt: skip
