"""Everything a campaign works with, built and checked before its first call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.gepa.acceptance import Acceptance
from heldout.gepa.confirmation import HeldoutJudge
from heldout.gepa.gate.settings import GateSettings
from heldout.gepa.objective import Objective
from heldout.gepa.record.events import PartitionEvent
from heldout.gepa.record.journal import RunJournal
from heldout.gepa.reward import Reward
from heldout.gepa.settings import ConfirmSettings, SearchSettings
from heldout.gepa.spending import Spending
from heldout.reflectors.guard import Guard
from heldout.reflectors.reflector import Reflector
from heldout.splits.benchmark import Consultation, Note
from heldout.students.models.chat import Budget
from heldout.students.student import Student


@dataclass(frozen=True, slots=True)
class Seed:
    """A named block the search starts from."""

    name: str
    block: str


@dataclass(frozen=True)
class Held:
    """The reservation of the confirmation's cost: made before the search, given back after it."""

    hold: Callable[[], None]
    release: Callable[[], None]


@dataclass(frozen=True)
class Parts:
    """Everything a campaign works with, built and checked before its first call.

    `facts` are plain values that go on the card as they are (models, data digests).
    """

    name: str
    seed: int
    run_dir: Path
    reflect: tuple[Consultation, ...]
    accept: tuple[Note, ...]
    heldout: HeldoutJudge
    student: Student
    budget: Budget
    reflector: Reflector
    guard: Guard
    seeds: tuple[Seed, ...]
    baseline: str
    reward: Reward
    acceptance: Acceptance
    objective: Objective
    search: SearchSettings
    confirm: ConfirmSettings
    gate: GateSettings
    journal: RunJournal
    spending: Spending
    runner: asyncio.Runner
    held: Held
    partition: PartitionEvent
    simulated: bool
    facts: Mapping[str, Any]
