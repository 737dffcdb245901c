"""Held-out judging: the one place where the engine touches the vault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.gepa.controls import control_body
from heldout.gepa.evaluation import Evaluation, Evaluator, Occasion, Purpose
from heldout.gepa.events import EventKind
from heldout.gepa.settings import ConfirmSettings
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Note
from heldout.splits.hashing import sha256_text
from heldout.splits.journal import Journal
from heldout.splits.looks import LookKind
from heldout.splits.randomness import shuffled
from heldout.splits.vault import Vault


@dataclass(frozen=True)
class Side:
    """One block on held-out: a score table and, where the design has a rule, flags a replicate."""

    tables: tuple[ScoreTable, ...]
    flags: tuple[Mapping[str, bool], ...] | None

    def judged(self, threshold: float | None) -> Judged:
        """The side at a threshold frozen on accept, which is what the gate compares."""
        return Judged(self.tables, threshold=threshold)


@dataclass(frozen=True)
class Confirmation:
    """The winner on held-out, with what the look counted as and how the baseline held still."""

    winner: Side
    looks: int
    exploratory: bool
    drift: Mapping[str, Any] | None


@dataclass(frozen=True)
class HeldoutJudge:
    """Judges blocks on held-out at the confirm settings, each time as a look through the vault.

    `fresh` judges under the occasion of the drift check, so that its calls are bought anew.
    """

    vault: Vault
    settings: ConfirmSettings
    journal: Journal
    fresh: Evaluator
    seed: int
    target: str

    @property
    def planned_looks(self) -> int:
        """Looks planned before the first; each is tested at alpha / this."""
        return self.vault.planned_looks
