"""Readings: what the simulated judge understands of a transcript, of a note, of a line of text.

Readings are cached by the text itself: a campaign reads the same few hundred texts thousands of
times.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from heldout.students.simulated.lexicon import WORDS, Form
from heldout.students.simulated.mentions import Detail, Mention, Sentence
from heldout.students.simulated.sections import home_of, sections_of, without_headings
from heldout.students.simulated.sentences import read_sentence
from heldout.students.simulated.talk import Talk
from heldout.students.simulated.words import Words, words_of

_SPEAKER = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{1,24}\]|(?:doctor|patient|dr|pt|d|p)\s?[:>])", re.I | re.M
)
_EVIDENCE_WORDS = 14
SEVERITIES = ("critical", "supporting", "peripheral")
_CRITICAL_PHASES = WORDS.words("critical_phases")
_CRITICAL = WORDS.words("critical")
_PERIPHERAL = WORDS.words("peripheral")
_HABITS = WORDS.read("habits", frozenset[str])


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact of a transcript: one concept with everything said of it.

    `denials` and `doubts` are the polarities and degrees of doubt it was stated with, `effects`
    what was said of a remedy, `details` kind to values, `home` the section it belongs in.
    `mentions` counts the places; `evidence` are words of the transcript.
    """

    key: tuple[str, str]
    forms: frozenset[Form]
    category: str
    phase: str
    home: str
    denials: frozenset[bool]
    doubts: frozenset[int]
    effects: frozenset[int]
    details: dict[str, frozenset[str]]
    mentions: int
    evidence: str
    said: str

    @property
    def name(self) -> str:
        """The concept's name."""
        return self.key[0]

    @property
    def severity(self) -> str:
        """The grade of leaving it out, by what kind of fact it is."""
        if self.phase in _CRITICAL_PHASES or self.category in _CRITICAL:
            return "critical"
        if self.category in _PERIPHERAL and self.name not in _HABITS:
            return "peripheral"
        return "supporting"


@dataclass(frozen=True, slots=True)
class TranscriptReading:
    """Facts in the order in which they came up, and everything that was so much as mentioned."""

    digest: str
    facts: tuple[ReadFact, ...]
    concepts: frozenset[str]
    stems: frozenset[str]
    by_name: dict[str, tuple[ReadFact, ...]]


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """One sentence of a note: its mentions, and its other words of content."""

    text: str
    mentions: tuple[Mention, ...]
    content: frozenset[str]
    values: frozenset[Detail]


@dataclass(frozen=True, slots=True)
class NoteReading:
    """Mentions by fact key, each with the section kinds it stands in, and the statements."""

    digest: str
    mentions: dict[tuple[str, str], tuple[tuple[Mention, frozenset[str]], ...]]
    statements: tuple[ReadStatement, ...]
    homes: frozenset[str]


def digest_of(text: str) -> str:
    """A short hash that names a text in the paths of draws."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _sentences(words: Words) -> Iterator[tuple[int, int, int]]:
    """(number, first word, one past the last word)."""
    first = 0
    for place in range(1, len(words) + 1):
        if place == len(words) or words.sentence[place] != words.sentence[first]:
            yield words.sentence[first], first, place
            first = place


@lru_cache(maxsize=2048)
def read_transcript(text: str) -> TranscriptReading:
    """The facts of a consultation."""
    blanked = _SPEAKER.sub(lambda match: " " * len(match.group()), text)
    words = words_of(blanked)
    mentions = list(_spoken(words, blanked))
    facts = _facts(mentions, text)
    by_name: dict[str, list[ReadFact]] = {}
    for fact in facts:
        by_name.setdefault(fact.name, []).append(fact)
    asked = frozenset(m.concept.name for m, _ in mentions)
    return TranscriptReading(
        digest_of(text),
        facts,
        asked,
        frozenset(words.stems),
        {name: tuple(several) for name, several in by_name.items()},
    )


def _spoken(words: Words, text: str) -> Iterator[tuple[Mention, bool]]:
    """(mention, whether it states a fact): a question without a clear answer states none."""
    talk = Talk(text)
    for number, first, last in _sentences(words):
        sentence = read_sentence(words, number, first, last)
        yield from talk.hear(words, sentence)
    yield from talk.leave()


def _facts(mentions: list[tuple[Mention, bool]], text: str) -> tuple[ReadFact, ...]:
    grouped: dict[tuple[str, str], list[Mention]] = {}
    for mention, states in mentions:
        if states:
            grouped.setdefault(mention.key, []).append(mention)
    return tuple(_fact(key, several, text) for key, several in grouped.items())


def _fact(key: tuple[str, str], several: list[Mention], text: str) -> ReadFact:
    details: dict[str, set[str]] = {}
    for mention in several:
        for kind, value in mention.details:
            details.setdefault(kind, set()).add(value)
    first = several[0]
    phase = next((m.phase for m in several if m.phase), "")
    return ReadFact(
        key=key,
        forms=frozenset(m.form for m in several),
        category=first.concept.category,
        phase=phase,
        home=home_of(first.concept.category, phase),
        denials=frozenset(m.negated for m in several),
        doubts=frozenset(m.doubt for m in several),
        effects=frozenset(m.effect for m in several),
        details={kind: frozenset(values) for kind, values in details.items()},
        mentions=len(several),
        evidence=_evidence(text, several[-1]),
        said=text[first.start : first.end],
    )


def _evidence(text: str, mention: Mention) -> str:
    """A few words of the line around a mention."""
    line_start = text.rfind("\n", 0, mention.start) + 1
    line_end = text.find("\n", mention.end)
    line = text[line_start : len(text) if line_end < 0 else line_end]
    before = text[line_start : mention.start].split()
    words = line.split()
    start = max(0, min(len(before) - 4, len(words) - _EVIDENCE_WORDS))
    return " ".join(words[start : start + _EVIDENCE_WORDS])


_PLAIN = WORDS.words("plain")
"""Words that say nothing about what a note claims."""


@lru_cache(maxsize=8192)
def read_note(text: str) -> NoteReading:
    """The mentions and statements of a note."""
    words = words_of(without_headings(text))
    sections = sections_of(text)
    mentions: dict[tuple[str, str], list[tuple[Mention, frozenset[str]]]] = {}
    statements = []
    for number, first, last in _sentences(words):
        sentence = read_sentence(words, number, first, last)
        kinds = _kinds_at(sections, words.starts[first])
        for mention in sentence.mentions:
            mentions.setdefault(mention.key, []).append((mention, kinds))
        statements.append(_statement(words, sentence))
    return NoteReading(
        digest_of(text),
        {key: tuple(several) for key, several in mentions.items()},
        tuple(s for s in statements if s.mentions or len(s.content) > 1),
        frozenset(kind for _, kinds in sections for kind in kinds),
    )


def _kinds_at(sections: list[tuple[int, frozenset[str]]], place: int) -> frozenset[str]:
    current = sections[0][1]
    for start, kinds in sections:
        if start > place:
            break
        current = kinds
    return current


def _statement(words: Words, sentence: Sentence) -> ReadStatement:
    covered = [(m.start, m.end) for m in sentence.mentions]
    content = frozenset(
        words.stems[place]
        for place in range(sentence.first, sentence.last)
        if len(words.stems[place]) > 3
        and words.stems[place].isalpha()
        and words.stems[place] not in _PLAIN
        and not any(a <= words.starts[place] < b for a, b in covered)
    )
    start, end = words.starts[sentence.first], words.ends[sentence.last - 1]
    values = frozenset(
        detail for mention in sentence.mentions for detail in mention.details
    ) | frozenset(sentence.loose)
    return ReadStatement(words.text[start:end], tuple(sentence.mentions), content, values)
