"""Judges put together: majority of replicates, union of methods, escalation.

Nothing is judged for this: each figure follows from flags that a ladder has anyway. Where a design
has a rule of its own its flags are used; beside it stands the threshold swept on these notes, which
flatters every line alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from heldout.experiments.practice.spent import JudgingCost
from heldout.gepa.statistics.agreement.replicates import majority_table, strict_majority
from heldout.gepa.statistics.judged import Flags
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import flag_array, swept, threshold_flags
from heldout.gepa.statistics.selection import PairKind, rows_of
from heldout.gepa.statistics.table import BoolArray, ScoreTable

Kind = Literal["single", "majority", "union", "escalation"]
Basis = Literal["rule", "swept"]


class Sat(Protocol):
    """One block judged at one budget."""

    @property
    def tables(self) -> tuple[ScoreTable, ...]:
        """One a replicate."""

    @property
    def flags(self) -> tuple[Flags, ...] | None:
        """The design's own flags a replicate."""

    @property
    def cost(self) -> JudgingCost | None:
        """Of one judging."""


@dataclass(frozen=True, slots=True)
class Combination:
    """What a way of combining detects, how many clean notes it flags, what a note costs.

    `cost` is None where it is not known; a majority pays every replicate, a union both judges, an
    escalation the first judge and its share of flagged notes at the second.
    """

    kind: Kind
    name: str
    basis: Basis
    detection: Count
    false_alarms: Count
    cost: JudgingCost | None

    def to_json(self) -> dict[str, Any]:
        """Stable keys."""
        return {
            "kind": self.kind,
            "name": self.name,
            "basis": self.basis,
            "detection": self.detection.to_json(),
            "false_alarms": self.false_alarms.to_json(),
            "cost": None if self.cost is None else self.cost.to_json(),
        }


@dataclass(frozen=True)
class Flagger:
    """A judge as it is combined: flags in the rows of `table`, and what they cost a note."""

    name: str
    table: ScoreTable
    flags: BoolArray
    cost: JudgingCost | None


def combinations(
    blocks: Mapping[str, Sat], controls: Mapping[str, Sat], cap: float, family: PairKind
) -> tuple[Combination, ...]:
    """Every single rung, majority, union with the control, and escalation to a later rung."""
    found: list[Combination] = []
    bases: list[Basis] = ["swept"]
    if all(sat.flags is not None for sat in (*blocks.values(), *controls.values())):
        bases.insert(0, "rule")
    for basis in bases:
        ours = [_once(name, sat, basis, cap, family) for name, sat in blocks.items()]
        theirs = [_once(f"control, {n}", s, basis, cap, family) for n, s in controls.items()]
        found += [_combined("single", f.name, basis, f, family) for f in (*ours, *theirs)]
        for name, sat in blocks.items():
            if len(sat.tables) >= 3:
                several = majority(name, sat, basis, cap, family)
                found.append(_combined("majority", several.name, basis, several, family))
        for first, second in zip(ours, theirs, strict=True):
            both = union(first, second)
            found.append(_combined("union", both.name, basis, both, family))
        for place, cheap in enumerate(ours):
            for dear in ours[place + 1 :]:
                led = escalation(cheap, dear)
                found.append(_combined("escalation", led.name, basis, led, family))
    return tuple(found)


def majority(name: str, sat: Sat, basis: Basis, cap: float, family: PairKind) -> Flagger:
    """Flagged by more than half of the replicates; a tie is not flagged."""
    table = majority_table(sat.tables)
    cost = None if sat.cost is None else sat.cost.times(len(sat.tables))
    named = f"majority of {len(sat.tables)}: {name}"
    if basis == "rule" and sat.flags is not None:
        flags = strict_majority([flag_array(table, found) for found in sat.flags])
        return Flagger(named, table, flags, cost)
    return Flagger(named, table, _at_swept(table, cap, family), cost)


def union(first: Flagger, second: Flagger) -> Flagger:
    """Flagged by either."""
    name = f"{first.name} or {second.name}"
    return _both(name, first, second, np.logical_or, second.cost)


def escalation(cheap: Flagger, dear: Flagger) -> Flagger:
    """Flagged by the dear judge among what the cheap one flags; only that is judged twice.

    The share of notes that go on is that of these notes, clean and errored ones together.
    """
    share = float(cheap.flags.mean()) if cheap.flags.size else 0.0
    cost = None if dear.cost is None else dear.cost.times(share)
    return _both(f"{cheap.name}, then {dear.name}", cheap, dear, np.logical_and, cost)


def _once(name: str, sat: Sat, basis: Basis, cap: float, family: PairKind) -> Flagger:
    """The first replicate alone: what one judging of a note gives."""
    table = sat.tables[0]
    if basis == "rule" and sat.flags is not None:
        return Flagger(name, table, flag_array(table, sat.flags[0]), sat.cost)
    return Flagger(name, table, _at_swept(table, cap, family), sat.cost)


def _at_swept(table: ScoreTable, cap: float, family: PairKind) -> BoolArray:
    threshold = swept(table, cap, family).threshold
    nothing = np.zeros(len(table.labels), dtype=np.bool_)
    return nothing if threshold is None else threshold_flags(table, threshold)


def _both(
    name: str,
    first: Flagger,
    second: Flagger,
    how: Callable[[BoolArray, BoolArray], Any],
    extra: JudgingCost | None,
) -> Flagger:
    position = [second.table.position[label.id] for label in first.table.labels]
    flags = np.asarray(how(first.flags, second.flags[position]), dtype=np.bool_)
    cost = None if first.cost is None or extra is None else first.cost + extra
    return Flagger(name, first.table, flags, cost)


def _combined(
    kind: Kind, name: str, basis: Basis, flagger: Flagger, family: PairKind
) -> Combination:
    rows, table = rows_of(flagger.table, family), flagger.table
    return Combination(
        kind,
        name,
        basis,
        Count(int(flagger.flags[rows].sum()), int(rows.sum())),
        Count(int(flagger.flags[table.clean].sum()), int(table.clean.sum())),
        flagger.cost,
    )
