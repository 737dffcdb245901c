"""Output contracts of the per-fact designs: facts as stated, and verdicts keyed by fact id.

As in `contracts`, a parser gives a value or a `Violation` and never raises.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.students.contracts import Violation, ViolationKind, last_with
from heldout.students.replies import ReplyObject, json_objects, plain


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
