"""Output contracts of judges that give one answer: what a reply must hold, and what it means.

Each parser takes the reply's text and gives a value or a `Violation`; none raises. Tolerant where
the meaning is plain (prose before or after, fences, a number in quotes, other letter case), strict
where it is not: a missing or contradictory value is never guessed. `one_answer` has the rule of
what counts as the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from heldout.students import structured
from heldout.students.replies import (
    ReplyObject,
    Unread,
    folded,
    json_objects,
    number,
    pieces,
    plain,
    resembles,
)
from heldout.students.structured import Schema
from heldout.students.student import ReportedGap

MAX_SCORE = 10.0
MOST_ASSESSMENT = 400
"""Characters of two sentences, where an endpoint bounds them."""
SHORTEST = 3
"""Characters of a text that must say something, where an endpoint bounds them."""
VERDICT_TOKENS = 45
"""Tokens of an answer beside its assessment, line breaks and spaces among them, at most."""
MOST_VALUES = 10_000
"""Values of one object that are looked through for a field that stands too deep."""

T = TypeVar("T")


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
        """The score, see `one_answer`."""
        return one_answer(
            text, "score", self.read, lambda a: f"{a.score:g}", meaning=lambda a: a.score
        )

    def schema(self, tokens: int) -> Schema:
        """Assessment and score."""
        return structured.record(
            assessment=room_for(tokens), score=structured.score(self.low, self.high)
        )

    def read(self, found: ReplyObject) -> Answer | Violation:
        """The answer in one object."""
        score = read_number(found, "score", self.low, self.high)
        return score if isinstance(score, Violation) else Answer(score, read_assessment(found))


def one_answer(
    text: str,
    field: str,
    read: Callable[[ReplyObject], T | Violation],
    told: Callable[[T], str],
    meaning: Callable[[T], object] = lambda value: value,
) -> T | Violation:
    """The one answer that the JSON objects of `text` with `field` give; `read` reads one of them.

    The rule of every contract: an answer is an outermost object that has the field. What is quoted
    inside a string of it, and objects without the field, are none. The same answer may stand twice.
    Two that differ by `meaning` are a violation that names both as `told`, for nobody can say which
    is meant. An object that cannot be read is passed over where a readable one follows (it was an
    example, or a slip put right); after the last readable one it is a violation: it was the answer.
    """
    answers: list[T] = []
    wrong: Violation | None = None
    for piece in pieces(text):
        if not concerns(piece, field):
            continue
        value = read_one(piece, field, read)
        wrong = value if isinstance(value, Violation) else None
        if not isinstance(value, Violation):
            answers.append(value)
    if wrong is not None and answers:
        earlier = told(answers[-1])
        detail = f'{wrong.detail}, and another answer stands before it: "{field}" {earlier}'
        return Violation(wrong.kind, detail)
    if wrong is not None or not answers:
        return wrong or nothing(text, field)
    last = answers[-1]
    other = next((answer for answer in answers if meaning(answer) != meaning(last)), None)
    return last if other is None else clash(field, told(other), told(last))


def concerns(piece: ReplyObject | Unread, field: str) -> bool:
    """True if a piece of the reply gives `field`, or means to."""
    if isinstance(piece, Unread):
        return piece.cut or piece.mentions(field)
    return bool(piece.named(field)) or _means(piece, field)


def _means(value: Any, field: str) -> bool:
    """True if a key within `value` is `field` or is written to look like it."""
    waiting, seen = [value], 0
    while waiting and seen < MOST_VALUES:
        found = waiting.pop()
        seen += 1
        if isinstance(found, ReplyObject):
            if any(folded(key) == field or resembles(key, field) for key in found):
                return True
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
    return False


def read_one(
    piece: ReplyObject | Unread, field: str, read: Callable[[ReplyObject], T | Violation]
) -> T | Violation:
    """What one piece of the reply answers."""
    if isinstance(piece, Unread):
        what = "a JSON object is cut off" if piece.cut else "a JSON object cannot be read"
        return Violation(ViolationKind.NO_OBJECT, what)
    if field in piece.conflicts:
        return Violation(ViolationKind.CONFLICT, f'"{field}" is given twice with different values')
    if not piece.named(field):
        return Violation(ViolationKind.MISSING_FIELD, f'"{field}" is no field of the object itself')
    return read(piece)


def nothing(text: str, field: str) -> Violation:
    """What is wrong with a reply that has no object with `field`."""
    if any(True for _ in json_objects(text)):
        return Violation(ViolationKind.MISSING_FIELD, f'the JSON object has no field "{field}"')
    return Violation(ViolationKind.NO_OBJECT, "there is no complete JSON object in the reply")


def clash(field: str, first: str, second: str) -> Violation:
    """Two answers that differ, in words."""
    both = f"as {first} and as {second}" if first != second else f"twice, each time another {first}"
    return Violation(ViolationKind.CONFLICT, f'"{field}" is given {both}; give one answer only')


def read_number(found: ReplyObject, field: str, low: float, high: float) -> float | Violation:
    """The number in `field`, within [low, high]."""
    value = number(found.one(field))
    if value is None:
        return Violation(
            ViolationKind.WRONG_TYPE, f'"{field}" must be a number from {low:g} to {high:g}'
        )
    if not low <= value <= high:
        return Violation(
            ViolationKind.OUT_OF_RANGE, f'"{field}" is outside the range from {low:g} to {high:g}'
        )
    return value


def room_for(tokens: int) -> Schema:
    """The text of an assessment, beside which the verdict itself must fit."""
    return structured.text(tokens - VERDICT_TOKENS, MOST_ASSESSMENT)


def read_assessment(found: ReplyObject) -> str:
    """The text in `assessment`, empty where there is none."""
    assessment = found.one("assessment")
    return plain(assessment) if isinstance(assessment, str) else ""
