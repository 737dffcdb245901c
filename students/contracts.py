"""Output contracts: what a reply must hold, and what it means when it does not.

Each parser takes the reply's text and gives a value or a `Violation`; none raises. Tolerant where
the meaning is plain (prose before or after, fences, a number in quotes, other letter case), strict
where it is not: a missing or contradictory value is never guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from heldout.students.replies import ReplyObject, json_objects, number, plain

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
class WholeNoteAnswer:
    """A score in [0, 10], 10 for a flawless note, and what the judge says about it."""

    score: float
    assessment: str


@dataclass(frozen=True, slots=True)
class StatedFact:
    """One fact as the extractor gave it; `evidence` are words of the transcript, maybe none."""

    text: str
    evidence: str


@dataclass(frozen=True, slots=True)
class KeyedVerdicts:
    """Verdicts by id. A miscount is a set difference, never a shift.

    `verdicts` holds the readable answers to ids that were asked; `unanswered` the ids asked that
    have none (left out, contradictory or not one of the allowed words), in the order asked;
    `extra` the ids answered that nobody asked about.
    """

    verdicts: Mapping[str, str]
    unanswered: tuple[str, ...]
    extra: tuple[str, ...]


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


def parse_whole_note(text: str) -> WholeNoteAnswer | Violation:
    """Read `{"assessment": text, "score": 0..10}`; the assessment may be absent."""
    found = last_with(text, "score")
    if isinstance(found, Violation):
        return found
    score = read_number(found, "score", 0.0, MAX_SCORE)
    if isinstance(score, Violation):
        return score
    assessment = found.get("assessment", "")
    return WholeNoteAnswer(score, plain(assessment) if isinstance(assessment, str) else "")


def parse_facts(text: str) -> tuple[StatedFact, ...] | Violation:
    """Read `{"facts": [{"text": …, "evidence": …}, …]}`; a repeated fact is kept once.

    A bare string stands for a fact without evidence.
    """
    found = last_with(text, "facts")
    if isinstance(found, Violation):
        return found
    entries = found["facts"]
    if not isinstance(entries, list):
        return Violation(ViolationKind.WRONG_TYPE, '"facts" must be a list')
    facts: dict[str, StatedFact] = {}
    for place, entry in enumerate(entries, start=1):
        fact = _stated_fact(entry)
        if fact is None:
            return Violation(
                ViolationKind.WRONG_TYPE,
                f'entry {place} of "facts" has no readable "text"',
            )
        facts.setdefault(fact.text.casefold(), fact)
    if not facts:
        return Violation(ViolationKind.EMPTY, '"facts" is empty')
    return tuple(facts.values())


def _stated_fact(entry: Any) -> StatedFact | None:
    """One entry of a facts list, or None where it cannot be read."""
    if isinstance(entry, str):
        entry = ReplyObject(text=entry)
    if not isinstance(entry, ReplyObject) or "text" in entry.conflicts:
        return None
    text, evidence = entry.get("text"), entry.get("evidence", "")
    if not isinstance(text, str) or not plain(text):
        return None
    return StatedFact(plain(text), plain(evidence) if isinstance(evidence, str) else "")


def parse_verdicts(
    text: str, asked: Collection[str], allowed: Collection[str], field: str = "verdicts"
) -> KeyedVerdicts | Violation:
    """Read `{field: {id: word, …}}` with words of `allowed`; the inner object may stand alone.

    Only a reply without any such object is a violation: what it leaves open is the caller's to ask
    again.
    """
    answers = _keyed(text, asked, field)
    if isinstance(answers, Violation):
        return answers
    given: dict[str, set[str]] = {}
    for key, value in answers.items():
        words = given.setdefault(key.strip(), set())
        words.add(value.strip().casefold() if isinstance(value, str) else "")
        if key in answers.conflicts:
            words.add("")
    readable = {
        key: word
        for key in asked
        for word in given.get(key, ())
        if given[key] <= {word} & set(allowed)
    }
    return KeyedVerdicts(
        readable,
        tuple(key for key in asked if key not in readable),
        tuple(plain(key) for key in given if key not in asked),
    )


def _keyed(text: str, asked: Collection[str], field: str) -> ReplyObject | Violation:
    """The object that maps ids to answers: under `field`, or the last that has an id asked."""
    found = last_with(text, field)
    if isinstance(found, ReplyObject):
        inner = found[field]
        if isinstance(inner, ReplyObject):
            return inner
        return Violation(ViolationKind.WRONG_TYPE, f'"{field}" must be an object of id to word')
    bare = [o for o in json_objects(text) if any(key.strip() in asked for key in o)]
    return bare[-1] if bare and found.kind is not ViolationKind.CONFLICT else found
