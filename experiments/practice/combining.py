"""Judges put together: majority of replicates, union of methods, escalation.

Nothing is judged for this: each figure follows from flags that a ladder has anyway. Where a design
has a rule of its own its flags are used; beside it stands the threshold swept on these notes, which
flatters every line alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from heldout.experiments.judging.costs import JudgingCost
from heldout.experiments.practice.rungs import RungResult
from heldout.gepa.statistics.agreement.replicates import majority_table, strict_majority
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import flag_array, swept, threshold_flags
from heldout.gepa.statistics.selection import PairKind, rows_of
from heldout.gepa.statistics.table import BoolArray, ScoreTable

CombinationKind = Literal["single", "majority", "union", "escalation"]
Basis = Literal["rule", "swept"]


@dataclass(frozen=True, slots=True)
class Combination:
    """What a way of combining detects, how many clean notes it flags, what a note costs.

    `cost` is None where it is not known; a majority pays every replicate, a union both judges, an
    escalation the first judge and its share of flagged notes at the second.
    """

    kind: CombinationKind
    name: str
    basis: Basis
    detection: Count
    false_alarms: Count
    cost: JudgingCost | None


@dataclass(frozen=True)
class Flagger:
    """A judge as it is combined: flags in the rows of `table`, and what they cost a note."""

    name: str
    table: ScoreTable
    flags: BoolArray
    cost: JudgingCost | None


def combinations(
    blocks: Mapping[str, RungResult],
    controls: Mapping[str, RungResult],
    cap: float,
    pairs: PairKind,
) -> tuple[Combination, ...]:
    """Every single rung, majority, union with the control, and escalation to a later rung."""
    found: list[Combination] = []
    bases: list[Basis] = ["swept"]
    if all(result.flags is not None for result in (*blocks.values(), *controls.values())):
        bases.insert(0, "rule")
    for basis in bases:
        ours = [_once(name, result, basis, cap, pairs) for name, result in blocks.items()]
        theirs = [_once(f"control, {n}", s, basis, cap, pairs) for n, s in controls.items()]
        several = [
            majority(name, result, basis, cap, pairs)
            for name, result in blocks.items()
            if len(result.tables) >= 3
        ]
        kinds: dict[CombinationKind, Iterable[Flagger]] = {
            "single": (*ours, *theirs),
            "majority": several,
            "union": map(union, ours, theirs),
            "escalation": itertools.starmap(escalation, itertools.combinations(ours, 2)),
        }
        found += [
            _combined(kind, basis, judge, pairs) for kind, made in kinds.items() for judge in made
        ]
    return tuple(found)


def majority(name: str, result: RungResult, basis: Basis, cap: float, pairs: PairKind) -> Flagger:
    """Flagged by more than half of the replicates; a tie is not flagged."""
    table = majority_table(result.tables)
    cost = None if result.cost is None else result.cost.times(len(result.tables))
    named = f"majority of {len(result.tables)}: {name}"
    if basis == "rule" and result.flags is not None:
        flags = strict_majority([flag_array(table, found) for found in result.flags])
        return Flagger(named, table, flags, cost)
    return Flagger(named, table, _at_swept(table, cap, pairs), cost)


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


def _once(name: str, result: RungResult, basis: Basis, cap: float, pairs: PairKind) -> Flagger:
    """The first replicate alone: what one judging of a note gives."""
    table = result.tables[0]
    if basis == "rule" and result.flags is not None:
        return Flagger(name, table, flag_array(table, result.flags[0]), result.cost)
    return Flagger(name, table, _at_swept(table, cap, pairs), result.cost)


def _at_swept(table: ScoreTable, cap: float, pairs: PairKind) -> BoolArray:
    threshold = swept(table, cap, pairs).threshold
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
    kind: CombinationKind, basis: Basis, flagger: Flagger, pairs: PairKind
) -> Combination:
    rows, table = rows_of(flagger.table, pairs), flagger.table
    return Combination(
        kind,
        flagger.name,
        basis,
        Count(int(flagger.flags[rows].sum()), int(rows.sum())),
        Count(int(flagger.flags[table.clean].sum()), int(table.clean.sum())),
        flagger.cost,
    )
