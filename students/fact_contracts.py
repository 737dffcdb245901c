"""Output contracts of the per-fact designs: facts as stated, and answers keyed by fact id.

As in `contracts`, a parser gives a value or a `Violation` and never raises.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.students.contracts import Violation, ViolationKind, last_with
from heldout.students.replies import ReplyObject, json_objects, plain

NO_WORDS = ("", "none", "null", "absent", "n/a")
"""What stands for «nothing found» where a quote is asked for."""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """One fact as the extractor gave it.

    `evidence` are words of the transcript, `section` the part of a note it belongs to; both may be
    empty.
    """

    text: str
    evidence: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class KeyedAnswers:
    """Answers by id. A miscount is a set difference, never a shift.

    `given` holds the readable answers to ids that were asked, in the order asked; `unanswered` the
    ids asked that have none (left out, contradictory or not readable); `extra` the ids answered
    that nobody asked about.
    """

    given: Mapping[str, str]
    unanswered: tuple[str, ...]
    extra: tuple[str, ...]


@dataclass(frozen=True)
class KeyedContract:
    """`{field: {id: answer, …}}`; the inner object may stand alone.

    `words` are the answers accepted, whatever their letter case; None accepts any text, and an
    absent one as the empty string (quotes).
    """

    field: str
    words: tuple[str, ...] | None

    def parse(self, text: str, asked: Collection[str]) -> KeyedAnswers | Violation:
        """Answers for `asked`. What a reply leaves open is the caller's to ask again."""
        answers = _keyed(text, asked, self.field)
        if isinstance(answers, Violation):
            return answers
        read: dict[str, set[str | None]] = {}
        for key, value in answers.items():
            words = read.setdefault(key.strip(), set())
            words.add(None if key in answers.conflicts else self._word(value))
        given = {
            key: word
            for key in asked
            for word in read.get(key, ())
            if word is not None and len(read[key]) == 1
        }
        return KeyedAnswers(
            given,
            tuple(key for key in asked if key not in given),
            tuple(plain(key) for key in read if key not in asked),
        )

    def parse_all(self, text: str, asked: Collection[str]) -> Mapping[str, str] | Violation:
        """Answers for all of `asked`, or the violation that names those missing."""
        keyed = self.parse(text, asked)
        if isinstance(keyed, Violation):
            return keyed
        if keyed.unanswered:
            open_ids = ", ".join(keyed.unanswered)
            return Violation(ViolationKind.UNANSWERED, f"no answer for {open_ids}")
        return keyed.given

    def _word(self, value: Any) -> str | None:
        """The answer in `value`, None where it cannot be read."""
        if self.words is None:
            text = plain(value) if isinstance(value, str) else ""
            readable = value is None or isinstance(value, str)
            return ("" if text.casefold() in NO_WORDS else text) if readable else None
        word = value.strip().casefold() if isinstance(value, str) else None
        return word if word in self.words else None


def parse_facts(text: str, field: str = "facts") -> tuple[StatedFact, ...] | Violation:
    """Read `{field: [{"text": …, "evidence": …, "section": …}, …]}`; a repeated fact counts once.

    A bare string stands for a fact without evidence.
    """
    found = last_with(text, field)
    if isinstance(found, Violation):
        return found
    entries = found[field]
    if not isinstance(entries, list):
        return Violation(ViolationKind.WRONG_TYPE, f'"{field}" must be a list')
    facts: dict[str, StatedFact] = {}
    for place, entry in enumerate(entries, start=1):
        fact = _stated_fact(entry)
        if fact is None:
            return Violation(
                ViolationKind.WRONG_TYPE, f'entry {place} of "{field}" has no readable "text"'
            )
        facts.setdefault(fact.text.casefold(), fact)
    if not facts:
        return Violation(ViolationKind.EMPTY, f'"{field}" is empty')
    return tuple(facts.values())


def _stated_fact(entry: Any) -> StatedFact | None:
    """One entry of a facts list, or None where it cannot be read."""
    if isinstance(entry, str):
        entry = ReplyObject(text=entry)
    if not isinstance(entry, ReplyObject) or "text" in entry.conflicts:
        return None
    text = _text(entry, "text")
    if not text:
        return None
    return StatedFact(text, _text(entry, "evidence"), _text(entry, "section").casefold())


def _text(entry: ReplyObject, key: str) -> str:
    """The text under `key`, empty where there is none."""
    value = entry.get(key, "")
    return plain(value) if isinstance(value, str) else ""


def _keyed(text: str, asked: Collection[str], field: str) -> ReplyObject | Violation:
    """The object that maps ids to answers: under `field`, or the last that has an id asked."""
    found = last_with(text, field)
    if isinstance(found, ReplyObject):
        inner = found[field]
        if isinstance(inner, ReplyObject):
            return inner
        return Violation(ViolationKind.WRONG_TYPE, f'"{field}" must be an object of id to answer')
    bare = [o for o in json_objects(text) if any(key.strip() in asked for key in o)]
    return bare[-1] if bare and found.kind is not ViolationKind.CONFLICT else found
