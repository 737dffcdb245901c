"""The kinds of journal event and what each holds; everything a reader of a run can rely on.

Deterministic events are recomputed and compared when a run is resumed; remarks are not: they
record what happened to the process. Times stand on the line, never in a body. Scores are by note
id; no body holds a word of any note or transcript. Rates lie in [0, 1].

| kind | body |
|---|---|
| `partition` | manifest and split digests, note labels by split, warnings, benchmark facts |
| `settings` | every setting of seeds, search, confirm and gate, journalled before the baseline |
| `phase` | `name` of the phase that begins |
| `look` | the look bought, by the vault: `kind`, `look`, `block_sha256`, `target` |
| `evaluation` | purpose, split, block, scores, flags, violations, digest of the calls used, cost |
| `control` | word counts of the notes of a split, and what counting words scores there |
| `candidate` | one seed or proposal: parents, text, status, reason, minibatch before and after |
| `iteration` | what an iteration did and what has been spent after it |
| `search_end` | why the search ended, merge counters |
| `winner` | the candidate chosen on accept and why |
| `pre_gate` | verdict on accept |
| `drift` | agreement of the fresh baseline with the stored one |
| `gate` | the decision with all rules, side conditions, measures |
| `emission` | hashes of prompt file and card |
| `finished` | finish reason, decision, `lineage_sha256`, totals |
| `opened`, `resumed`, `stopped` (remarks) | versions, platform, raised caps; reason |
| `calls` (remark) | what a session asked of models: requests, faults by kind, sent twice |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    """Kind of a journal event, see the table above."""

    PARTITION = "partition"
    SETTINGS = "settings"
    PHASE = "phase"
    LOOK = "look"
    EVALUATION = "evaluation"
    CONTROL = "control"
    CANDIDATE = "candidate"
    ITERATION = "iteration"
    SEARCH_END = "search_end"
    WINNER = "winner"
    PRE_GATE = "pre_gate"
    DRIFT = "drift"
    GATE = "gate"
    EMISSION = "emission"
    FINISHED = "finished"
    OPENED = "opened"
    RESUMED = "resumed"
    STOPPED = "stopped"
    CALLS = "calls"


REMARKS = frozenset(
    {
        EventKind.OPENED,
        EventKind.RESUMED,
        EventKind.STOPPED,
        EventKind.CALLS,
    }
)
"""Kinds that a resumed run does not recompute."""


class Phase(StrEnum):
    """The phases of a campaign, in order."""

    PARTITION = "partition"
    BASELINE = "baseline"
    SEEDS = "seeds"
    SEARCH = "search"
    WINNER = "winner"
    CONFIRM = "confirm"
    GATE = "gate"
    EMIT = "emit"


class FinishReason(StrEnum):
    """Why a search ended, or why a run did not go on."""

    ITERATIONS = "iterations"
    STALL = "stall"
    STOP_USD = "stop_usd"
    MAX_JUDGEMENTS = "max_judgements"
    HARD_CAP = "hard_cap"
    STOP_REQUESTED = "stop_requested"
    CIRCUIT_OPEN = "circuit_open"
    STORE_UNAVAILABLE = "store_unavailable"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the journal. `time` is ISO 8601 in UTC; `hash` covers `prev` and the line."""

    index: int
    time: str
    kind: EventKind
    body: Mapping[str, Any]
    prev: str
    hash: str

    @property
    def is_remark(self) -> bool:
        """True where the event is about the process and not about the campaign."""
        return self.kind in REMARKS
