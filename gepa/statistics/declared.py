"""Every measure by name, with its direction and range; an undeclared one cannot be used.

A report that does not know whether more is better can only mislead. `figure` is the one way to put
a name beside a number, and it checks both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field


class Direction(StrEnum):
    """Which way is better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Measure:
    """A name with what its values mean; `chance` is what a judge with no signal gets, if fixed."""

    name: str
    direction: Direction
    low: float
    high: float
    chance: float | None = None


class UndeclaredMeasure(ValueError):
    """A measure name that `DECLARED` does not hold."""


@dataclass(frozen=True, slots=True)
class DeclaredFigure:
    """A declared measure's value; `na` (value None) carries its support and the reason."""

    value: float | None
    support: int
    direction: Direction
    reason: Annotated[str | None, Field(exclude_if=lambda reason: reason is None)] = None


def _table(*measures: Measure) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}


HIGHER, LOWER, NEITHER = Direction.HIGHER, Direction.LOWER, Direction.NEITHER

DECLARED = _table(
    Measure("paired_omissions", HIGHER, 0, 1, chance=0.5),
    Measure("paired_commissions", HIGHER, 0, 1, chance=0.5),
    Measure("omissions", HIGHER, 0, 1, chance=0.5),
    Measure("commissions", HIGHER, 0, 1, chance=0.5),
    Measure("detection", HIGHER, 0, 1),
    Measure("false_alarms", LOWER, 0, 1),
    Measure("violations", LOWER, 0, 1),
    Measure("swept_detection", HIGHER, 0, 1),
    Measure("swept_false_alarms", LOWER, 0, 1),
    Measure("auc", HIGHER, 0, 1, chance=0.5),
    Measure("youden_j", HIGHER, 0, 1, chance=0.0),
    Measure("weighted_capture", HIGHER, 0, 1),
    Measure("names_the_fact", HIGHER, 0, 1),
    Measure("kappa", HIGHER, -1, 1, chance=0.0),
    Measure("length_following", NEITHER, -1, 1, chance=0.0),
    Measure("mean_score", NEITHER, float("-inf"), float("inf")),
)
"""All measures; a new one is one line here."""


def declared(name: str) -> Measure:
    """The declaration of `name`. Raises UndeclaredMeasure, naming the known ones."""
    if name not in DECLARED:
        raise UndeclaredMeasure(f"measure {name!r} is not declared; known: {', '.join(DECLARED)}")
    return DECLARED[name]


def figure(name: str, value: float | None, support: int, reason: str = "") -> DeclaredFigure:
    """A figure of a declared measure.

    Without a value the reason defaults to an empty denominator. Raises UndeclaredMeasure, and
    ValueError for a value outside the declared range or NaN.
    """
    measure = declared(name)
    if value is None:
        return DeclaredFigure(None, support, measure.direction, reason or "the denominator is zero")
    if not measure.low <= value <= measure.high:
        raise ValueError(f"{name} = {value} lies outside [{measure.low:g}, {measure.high:g}]")
    return DeclaredFigure(value, support, measure.direction)
