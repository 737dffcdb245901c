"""One judge's answers on a set of notes, replicates and flags included: what a gate compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heldout.gepa.statistics.agreement.replicates import majority_table, strict_majority
from heldout.gepa.statistics.rates.detection import flag_array, threshold_flags
from heldout.gepa.statistics.table import BoolArray, IntArray, ScoreTable

Flags = Mapping[str, bool | None]
"""A design's own flag by note id; None where the judge gave no answer."""


@dataclass(frozen=True)
class Judged:
    """One block judged on some notes, once or in several replicates.

    `flags` holds one mapping a replicate for a design with a rule of its own, else None.
    `threshold` was frozen elsewhere (on accept), None where there is none. Raises ValueError when
    replicates are about different notes or flags do not match the replicates.
    """

    tables: tuple[ScoreTable, ...]
    flags: tuple[Flags, ...] | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        if not self.tables:
            raise ValueError("a judge needs at least one score table")
        if self.flags is not None and len(self.flags) != len(self.tables):
            raise ValueError(f"{len(self.flags)} sets of flags beside {len(self.tables)} tables")
        for table in self.tables[1:]:
            table.in_order_of(self.tables[0].labels)

    @classmethod
    def once(
        cls, table: ScoreTable, flags: Flags | None = None, threshold: float | None = None
    ) -> Judged:
        """A judge with a single run."""
        return cls((table,), None if flags is None else (flags,), threshold)

    @cached_property
    def majority(self) -> ScoreTable:
        """The table whose flags at any threshold are the strict majority of the replicates'."""
        return majority_table(self.tables)

    @property
    def rule(self) -> str | None:
        """Which fixed rule `flagged` goes by: `design`, `threshold` or None."""
        if self.flags is not None:
            return "design"
        return None if self.threshold is None else "threshold"

    def flagged(self, like: ScoreTable) -> BoolArray | None:
        """Strict-majority flags at the fixed rule, in the rows of `like`; None without a rule."""
        if self.flags is not None:
            return strict_majority([flag_array(like, flags) for flags in self.flags])
        return self.frozen_flags(like)

    def frozen_flags(self, like: ScoreTable) -> BoolArray | None:
        """Strict-majority flags at the frozen threshold, in the rows of `like`; None without."""
        if self.threshold is None:
            return None
        return threshold_flags(self.majority.in_order_of(like.labels), self.threshold)

    def unanswered(self, like: ScoreTable) -> IntArray:
        """In how many replicates each note has no score, in the rows of `like`, shape (notes,)."""
        missing = [table.in_order_of(like.labels).missing for table in self.tables]
        return np.asarray(np.sum(missing, axis=0), dtype=np.int64)
