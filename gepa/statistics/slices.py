"""Slices: the paired figure by class, trace level, severity, stratum and construction source.

Descriptive only: support and interval, no p-value. A slice under ten pairs or five consultations
shows its counts and nothing computed from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from heldout.gepa.statistics.intervals.interval import UNIT, Interval, cluster_t
from heldout.gepa.statistics.rates.paired import answered_pairs, half_points, paired
from heldout.gepa.statistics.selection import Selection, rows_of
from heldout.gepa.statistics.table import BoolArray, ScoreTable
from heldout.splits.benchmark import NoteLabel

Axis = Literal["class", "trace", "severity", "stratum", "source"]
AXES: tuple[Axis, ...] = ("class", "trace", "severity", "stratum", "source")
MIN_PAIRS = 10
MIN_CONSULTATIONS = 5


@dataclass(frozen=True, slots=True)
class Slice:
    """One value of one axis: counts of pairs as in `Paired`, over `consultations`.

    `paired` (in [0, 1]) and `interval` are None where the support is too small to print them.
    """

    n: int
    wins: int
    ties: int
    losses: int
    violations: int
    consultations: int
    paired: float | None
    interval: Interval | None

    @property
    def value(self) -> float | None:
        """Paired discrimination whatever the support; None without a pair."""
        return (2 * self.wins + self.ties) / (2 * self.n) if self.n else None


def slices(
    table: ScoreTable, axis: Axis, select: Selection = "errored", *, level: float = 0.95
) -> dict[str, Slice]:
    """The slices of `select` along `axis`, in order of keys; notes without a key are left out."""
    rows = rows_of(table, select)
    keys = [
        slice_key(label, axis) if row else "" for label, row in zip(table.labels, rows, strict=True)
    ]
    return {
        key: _slice(table, np.array([k == key for k in keys], dtype=np.bool_), level)
        for key in sorted(set(keys) - {""})
    }


def all_slices(table: ScoreTable, *, level: float = 0.95) -> dict[Axis, dict[str, Slice]]:
    """Classes over all errored notes; every other axis over omissions, which it would else mix."""
    return {
        axis: slices(table, axis, "errored" if axis == "class" else "omission", level=level)
        for axis in AXES
    }


def slice_key(label: NoteLabel, axis: Axis) -> str:
    """The value of `axis` on one note, empty where it has none."""
    found = {
        "class": label.note_class,
        "trace": label.trace,
        "severity": label.severity,
        "stratum": label.stratum,
        "source": label.source,
    }[axis]
    return str(found) if found else ""


def paired_interval(
    table: ScoreTable, select: Selection = "omission", *, level: float = 0.95
) -> Interval | None:
    """Cluster-robust t interval of paired discrimination, in [0, 1]; None without a pair."""
    rows = rows_of(table, select) & answered_pairs(table)
    return cluster_t(half_points(table)[rows] / 2, table.cluster[rows], level=level, bounds=UNIT)


def _slice(table: ScoreTable, rows: BoolArray, level: float) -> Slice:
    found = paired(table, rows)
    groups = int(np.unique(table.cluster[rows & answered_pairs(table)]).size)
    enough = found.n >= MIN_PAIRS and groups >= MIN_CONSULTATIONS
    return Slice(
        n=found.n,
        wins=found.wins,
        ties=found.ties,
        losses=found.losses,
        violations=found.violations,
        consultations=groups,
        paired=found.value if enough else None,
        interval=paired_interval(table, rows, level=level) if enough else None,
    )
