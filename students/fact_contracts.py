"""Output contracts of the per-fact designs: facts as stated, and answers keyed by fact id.

As in `contracts`, a parser gives a value or a `Violation` and never raises.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from heldout.students.contracts import (
    SHORTEST,
    Violation,
    ViolationKind,
    concerns,
    nothing,
    one_answer,
    read_one,
)
from heldout.students.replies import ReplyObject, Unread, folded, pieces, plain, resembles
from heldout.students.structured import Schema, keyed, listed, optional, record, text, word

_BODY = ("complaint", "history", "medication", "allergies", "social", "examination")
SECTIONS = (*_BODY, "assessment", "plan")
"""Parts of a note that a fact can belong to."""
FACT_TOKENS, MOST_FACTS, MOST_FACT, MOST_EVIDENCE = 120, 60, 120, 60
"""Tokens of one fact, how many are listed, and characters of its texts, at most."""
ID_TOKENS, MOST_QUOTE = 25, 200
"""Tokens of an id with its signs, and characters of a quote, at most."""
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
        found = _keyed(text, asked, self.field)
        if isinstance(found, Violation):
            return found
        read: dict[str, set[str | None]] = {}
        for answers in found:
            for key, value in answers.items():
                name = _id_in(key, asked)
                clear = folded(key) not in answers.conflicts and not _seems(key, name)
                read.setdefault(name, set()).add(self._word(value) if clear else None)
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

    def of(self, asked: Collection[str]) -> AskedKeys:
        """The shape of an answer for `asked`."""
        return AskedKeys(self, tuple(asked))

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
        word = folded(value) if isinstance(value, str) else None
        return word if word in self.words else None


@dataclass(frozen=True, slots=True)
class AskedKeys:
    """A keyed contract with the ids that are asked: they are the fields of its schema."""

    contract: KeyedContract
    asked: tuple[str, ...]

    def schema(self, tokens: int) -> Schema:
        """An answer for every id, in the order asked."""
        words = self.contract.words
        share = tokens // max(1, len(self.asked)) - ID_TOKENS
        answer = optional(text(share, MOST_QUOTE)) if words is None else word(*words)
        return record(**{self.contract.field: keyed(dict.fromkeys(self.asked, answer))})


@dataclass(frozen=True)
class FactsContract:
    """`{field: [{"text": …, "evidence": …, "section": …}, …]}`; a repeated fact counts once."""

    field: str = "facts"
    placed: bool = False

    def parse(self, text: str) -> tuple[StatedFact, ...] | Violation:
        """The list, see `one_answer`. A bare string stands for a fact without evidence."""
        return one_answer(text, self.field, self.read, lambda facts: f"a list of {len(facts)}")

    def schema(self, tokens: int) -> Schema:
        """The list, with a section for each fact where one is asked for."""
        fields = {
            "text": text(MOST_FACT, MOST_FACT, least=SHORTEST),
            "evidence": text(MOST_EVIDENCE, MOST_EVIDENCE),
        }
        fields |= {"section": word(*SECTIONS)} if self.placed else {}
        most = min(MOST_FACTS, tokens // FACT_TOKENS)
        return record(**{self.field: listed(keyed(fields), 1, most)})

    def read(self, found: ReplyObject) -> tuple[StatedFact, ...] | Violation:
        """The list in one object."""
        entries = found.one(self.field)
        if not isinstance(entries, list):
            return Violation(ViolationKind.WRONG_TYPE, f'"{self.field}" must be a list')
        facts: dict[str, StatedFact] = {}
        for place, entry in enumerate(entries, start=1):
            fact = _stated_fact(entry)
            if fact is None:
                return Violation(
                    ViolationKind.WRONG_TYPE,
                    f'entry {place} of "{self.field}" has no readable "text"',
                )
            facts.setdefault(fact.text.casefold(), fact)
        if not facts:
            return Violation(ViolationKind.EMPTY, f'"{self.field}" is empty')
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
    value = entry.one(key)
    return plain(value) if isinstance(value, str) else ""


def _id_in(key: str, asked: Collection[str]) -> str:
    """The id of `asked` that `key` gives, or means to give; the key itself where there is none."""
    name = key.strip()
    if name in asked:
        return name
    shown = folded(key)
    meant = [id_ for id_ in asked if folded(id_) == shown or resembles(key, folded(id_))]
    return meant[0] if len(meant) == 1 else name


def _seems(key: str, name: str) -> bool:
    """True where `key` only looks like the id `name`."""
    return folded(key) != folded(name)


def _keyed(text: str, asked: Collection[str], field: str) -> list[ReplyObject] | Violation:
    """The objects that map ids to answers: those under `field`, and bare ones with an id asked.

    An object that cannot be read counts as in `one_answer`: the last of all that concern the ids
    must be readable.
    """
    ids = {folded(id_) for id_ in asked}
    found: list[ReplyObject] = []
    wrong: Violation | None = None
    for piece in pieces(text):
        if isinstance(piece, ReplyObject) and any(folded(key) in ids for key in piece):
            found, wrong = [*found, piece], None
        elif concerns(piece, field) or (isinstance(piece, Unread) and piece.mentions(*ids)):
            inner = read_one(piece, field, partial(_inner, field=field))
            wrong = inner if isinstance(inner, Violation) else None
            found += [] if isinstance(inner, Violation) else [inner]
    if wrong is None and not found:
        return nothing(text, field)
    return found if wrong is None else wrong


def _inner(found: ReplyObject, field: str) -> ReplyObject | Violation:
    inner = found.one(field)
    if isinstance(inner, ReplyObject):
        return inner
    return Violation(ViolationKind.WRONG_TYPE, f'"{field}" must be an object of id to answer')
