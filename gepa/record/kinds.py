"""The words of the record: kinds of event, phases, purposes, why a run ended."""

from __future__ import annotations

from enum import StrEnum

SCHEMA = 2
"""Version of the events. Journals without one are of version 1, which had untyped bodies."""


class EventKind(StrEnum):
    """What an event is about; the `kind` of its line."""

    PARTITION = "partition"
    SETTINGS = "settings"
    PHASE = "phase"
    LOOK = "look"
    EVALUATION = "evaluation"
    LEFT_OUT = "left_out"
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
    RENDERED = "rendered"
    ANSWERED = "answered"


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
    """The search made all its iterations."""
    STALL = "stall"
    """`search.stall` iterations went by without a new best."""
    STOP_USD = "stop_usd"
    """The search had spent `search.stop_usd`."""
    MAX_JUDGEMENTS = "max_judgements"
    """Another iteration might have passed `search.max_judgements`."""
    NO_PROPOSAL = "no_proposal"
    """The search ended without one proposal that the guard let through: nothing was tried."""
    HARD_CAP = "hard_cap"
    """A cap of `budget` was reached; exit status 3."""
    STOP_REQUESTED = "stop_requested"
    """A person asked for it; exit status 3."""
    CIRCUIT_OPEN = "circuit_open"
    """Models failed again and again; exit status 4."""
    CALL_REFUSED = "call_refused"
    """A provider turned a call down for good, such as for a rejected key; exit status 4."""
    UNANSWERED = "unanswered"
    """Some notes were not answered while others were; exit status 4."""
    STORE_UNAVAILABLE = "store_unavailable"
    """A file of the run or the call store could not be written; exit status 4."""
    FAULT = "fault"
    """Something a person can mend; exit status 2."""


class Purpose(StrEnum):
    """Why a block was judged."""

    BASELINE = "baseline"
    SEED = "seed"
    PARENT = "parent"
    CHILD = "child"
    ACCEPT = "accept"
    THRESHOLD = "threshold"
    """Accept at the confirm settings, where those differ from the search's."""
    CONFIRM = "confirm"
    DRIFT = "drift"
