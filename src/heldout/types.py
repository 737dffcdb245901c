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

from heldout.experiments.analysis.compare import Comparison as Comparison
from heldout.experiments.analysis.power import PowerReport as PowerReport
from heldout.experiments.judging.command import JudgeReport as JudgeReport
from heldout.gepa.acceptance import Acceptance as Acceptance
from heldout.gepa.acceptance import MinibatchComparison as MinibatchComparison
from heldout.gepa.gate.decision import Decision as Decision
from heldout.gepa.gate.rules import Rule as Rule
from heldout.gepa.gate.rules import RuleVerdict as RuleVerdict
from heldout.gepa.minibatch import Minibatch as Minibatch
from heldout.gepa.objective import Objective as Objective
from heldout.gepa.objective import Rank as Rank
from heldout.gepa.record.codec import Event as Event
from heldout.gepa.record.events import CandidateEvent as CandidateEvent
from heldout.gepa.record.events import ControlEvent as ControlEvent
from heldout.gepa.record.events import DriftEvent as DriftEvent
from heldout.gepa.record.events import EmissionEvent as EmissionEvent
from heldout.gepa.record.events import EvaluationEvent as EvaluationEvent
from heldout.gepa.record.events import FinishedEvent as FinishedEvent
from heldout.gepa.record.events import GateEvent as GateEvent
from heldout.gepa.record.events import IterationEvent as IterationEvent
from heldout.gepa.record.events import PartitionEvent as PartitionEvent
from heldout.gepa.record.events import PhaseEvent as PhaseEvent
from heldout.gepa.record.events import PreGateEvent as PreGateEvent
from heldout.gepa.record.events import SearchEndEvent as SearchEndEvent
from heldout.gepa.record.events import SettingsEvent as SettingsEvent
from heldout.gepa.record.events import WinnerEvent as WinnerEvent
from heldout.gepa.record.journal import Observer as Observer
from heldout.gepa.record.kinds import FinishReason as FinishReason
from heldout.gepa.record.kinds import Phase as Phase
from heldout.gepa.record.kinds import Purpose as Purpose
from heldout.gepa.record.remarks import CallsEvent as CallsEvent
from heldout.gepa.record.remarks import OpenedEvent as OpenedEvent
from heldout.gepa.record.remarks import ResumedEvent as ResumedEvent
from heldout.gepa.record.remarks import StoppedEvent as StoppedEvent
from heldout.gepa.record.run import Run as Run
from heldout.gepa.reward import Reward as Reward
from heldout.gepa.statistics.difference import Difference as Difference
from heldout.gepa.statistics.intervals.interval import Interval as Interval
from heldout.gepa.statistics.measures import Measures as Measures
from heldout.gepa.statistics.table import ScoreTable as ScoreTable
from heldout.reflectors.prompts import Terms as Terms
from heldout.reflectors.reflector import JudgedPair as JudgedPair
from heldout.reflectors.reflector import MergeContext as MergeContext
from heldout.reflectors.reflector import Proposal as Proposal
from heldout.reflectors.reflector import Reflector as Reflector
from heldout.reflectors.reflector import RewriteContext as RewriteContext
from heldout.splits.benchmark import Benchmark as Benchmark
from heldout.splits.benchmark import CleanMeans as CleanMeans
from heldout.splits.benchmark import Consultation as Consultation
from heldout.splits.benchmark import Note as Note
from heldout.splits.benchmark import NoteClass as NoteClass
from heldout.splits.benchmark import NoteLabel as NoteLabel
from heldout.splits.benchmark import Severity as Severity
from heldout.splits.benchmark import TraceLevel as TraceLevel
from heldout.splits.errors import BadInput as BadInput
from heldout.splits.errors import CallMissing as CallMissing
from heldout.splits.errors import CallRefused as CallRefused
from heldout.splits.errors import CircuitOpen as CircuitOpen
from heldout.splits.errors import Fault as Fault
from heldout.splits.errors import HardCapReached as HardCapReached
from heldout.splits.errors import HeldoutError as HeldoutError
from heldout.splits.errors import InfrastructureFailure as InfrastructureFailure
from heldout.splits.errors import JournalBroken as JournalBroken
from heldout.splits.errors import JournalMismatch as JournalMismatch
from heldout.splits.errors import LooksSpent as LooksSpent
from heldout.splits.errors import Stopped as Stopped
from heldout.splits.errors import StopRequested as StopRequested
from heldout.splits.errors import StoreUnavailable as StoreUnavailable
from heldout.splits.errors import UserFault as UserFault
from heldout.splits.heldout.looks import LookEvent as LookEvent
from heldout.students.calls.call import CallSpec as CallSpec
from heldout.students.calls.call import Stage as Stage
from heldout.students.calls.completion import Completion as Completion
from heldout.students.calls.completion import CompletionClient as CompletionClient
from heldout.students.calls.completion import RequestBuilder as RequestBuilder
from heldout.students.designs.context import DesignContext as DesignContext
from heldout.students.frames import Frame as Frame
from heldout.students.models.chat import Budget as Budget
from heldout.students.models.chat import ChatModel as ChatModel
from heldout.students.models.chat import ChatReply as ChatReply
from heldout.students.models.chat import ChatRequest as ChatRequest
from heldout.students.models.chat import Message as Message
from heldout.students.models.chat import ModelPin as ModelPin
from heldout.students.models.chat import StopReason as StopReason
from heldout.students.models.chat import Usage as Usage
from heldout.students.student import Judgement as Judgement
from heldout.students.student import Outcome as Outcome
from heldout.students.student import ReportedGap as ReportedGap
from heldout.students.student import Student as Student

__all__ = sorted(name for name in globals() if name[0].isupper())  # noqa: PLE0605
