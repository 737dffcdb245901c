"""Slices: the paired figure by class, trace level, severity, stratum and construction source.

Descriptive only: support and interval, no p-value. A slice under ten pairs or five consultations
shows its counts and nothing computed from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from heldout.gepa.statistics.intervals.interval import ClusterSums, Interval, cluster_wilson
from heldout.gepa.statistics.rates.paired import answered_pairs, half_points, paired
from heldout.gepa.statistics.selection import Selection, rows_of
from heldout.gepa.statistics.table import BoolArray, ScoreTable
from heldout.splits.benchmark import NoteLabel

Axis = Literal["class", "trace", "severity", "stratum", "source"]
AXES: tuple[Axis, ...] = ("trace", "class", "severity", "stratum", "source")
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
    members: Annotated[frozenset[str], Field(exclude=True)] = frozenset()
    """Ids of its errored notes, unanswered ones too."""

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


def distinct(parts: Mapping[Axis, Mapping[str, Slice]]) -> list[tuple[Axis, str]]:
    """Axis and value of every slice, in order; the same notes under a second name are left out."""
    seen, found = set[frozenset[str]](), list[tuple[Axis, str]]()
    for axis, by_key in parts.items():
        for key, part in by_key.items():
            if part.members not in seen:
                found.append((axis, key))
            seen.add(part.members)
    return found


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


def consultation_mean(table: ScoreTable, select: Selection = "omission") -> float | None:
    """Paired discrimination with each consultation weighted alike, in [0, 1]; None without a pair.

    The other figures weigh each pair alike.
    """
    rows = rows_of(table, select) & answered_pairs(table)
    if not rows.any():
        return None
    return float(ClusterSums.of(half_points(table)[rows] / 2, table.cluster[rows]).equal_weight)


def paired_interval(
    table: ScoreTable, select: Selection = "omission", *, level: float = 0.95
) -> Interval | None:
    """Wilson's interval over consultations of paired discrimination, in [0, 1].

    None without a pair, and for one consultation, which shows none.
    """
    rows = rows_of(table, select) & answered_pairs(table)
    found = cluster_wilson(half_points(table)[rows] / 2, table.cluster[rows], level=level)
    return found if found is not None and found.known else None


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
        members=frozenset(x.id for x, kept in zip(table.labels, rows, strict=True) if kept),
    )
