"""Output contracts of judges that give one answer: what a reply must hold, and what it means.

Each parser takes the reply's text and gives a value or a `Violation`; none raises. Tolerant where
the meaning is plain (prose before or after, fences, a number in quotes, other letter case), strict
where it is not: a missing or contradictory value is never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from heldout.students.replies import ReplyObject, json_objects, number, plain
from heldout.students.student import ReportedGap

MAX_SCORE = 10.0


class ViolationKind(StrEnum):
    """What was wrong with a reply."""

    NO_OBJECT = "no_object"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    OUT_OF_RANGE = "out_of_range"
    CONFLICT = "conflict"
    EMPTY = "empty"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class Violation:
    """A reply that breaks its contract; `detail` is worded so that the model can mend it."""

    kind: ViolationKind
    detail: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A score in the contract's range, higher for a better note, and what the judge says of it.

    `findings` are what it lists as missing, in designs that ask for a list.
    """

    score: float
    assessment: str = ""
    findings: tuple[ReportedGap, ...] = ()


class Contract(Protocol):
    """How an answer is read."""

    @property
    def score_range(self) -> tuple[float, float]:
        """Lowest and highest score."""

    def parse(self, text: str) -> Answer | Violation:
        """The answer in `text`."""


@dataclass(frozen=True)
class ScoreContract:
    """`{"assessment": text, "score": low..high}`; the assessment may be absent."""

    low: float = 0.0
    high: float = MAX_SCORE

    @property
    def score_range(self) -> tuple[float, float]:
        """As declared."""
        return (self.low, self.high)

    def parse(self, text: str) -> Answer | Violation:
        """The score of the last object that has one."""
        found = last_with(text, "score")
        if isinstance(found, Violation):
            return found
        score = read_number(found, "score", self.low, self.high)
        return score if isinstance(score, Violation) else Answer(score, read_assessment(found))


def last_with(text: str, field: str) -> ReplyObject | Violation:
    """The last JSON object of `text` that has `field`, given once or without contradiction."""
    last, found = None, False
    for candidate in json_objects(text):
        found = True
        last = candidate if field in candidate else last
    if last is None and found:
        return Violation(ViolationKind.MISSING_FIELD, f'the JSON object has no field "{field}"')
    if last is None:
        return Violation(ViolationKind.NO_OBJECT, "there is no complete JSON object in the reply")
    if field in last.conflicts:
        return Violation(ViolationKind.CONFLICT, f'"{field}" is given twice with different values')
    return last


def read_number(found: ReplyObject, field: str, low: float, high: float) -> float | Violation:
    """The number in `field`, within [low, high]."""
    value = number(found[field])
    if value is None:
        return Violation(
            ViolationKind.WRONG_TYPE, f'"{field}" must be a number from {low:g} to {high:g}'
        )
    if not low <= value <= high:
        return Violation(
            ViolationKind.OUT_OF_RANGE, f'"{field}" is outside the range from {low:g} to {high:g}'
        )
    return value


def read_assessment(found: ReplyObject) -> str:
    """The text in `assessment`, empty where there is none."""
    assessment = found.get("assessment", "")
    return plain(assessment) if isinstance(assessment, str) else ""
