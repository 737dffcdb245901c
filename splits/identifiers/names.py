"""Names of people and streets, found by what stands around them; no list of names is needed.

A word that merely stands in a text is no name. In scripts with capitals a name is a capitalised
word behind a title, a greeting or a label, or several capitalised words in a row; in Chinese a
surname with one or two characters behind or before such a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from heldout.splits.identifiers.cues import CUES
from heldout.splits.identifiers.han_names import han_names
from heldout.splits.overlap import tokens

LONGEST = 6
"""Words of the longest sequence that is looked for."""

_TITLES, _INTRODUCTIONS = CUES.words("titles"), CUES.words("introductions")
_BETWEEN = CUES.words("between")
"""Words that may stand between an introduction and the name."""
_PARTICLES = CUES.words("particles")
_STREETS, _ROADS = CUES.read("streets", str), CUES.read("roads", str)
_CAPITAL = r"[A-ZА-ЯІЇЄΑ-Ω][\w'’-]*"
_HOUSE = r"(?P<house>\d+[a-z]?)"
_ADDRESSES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:\b{_HOUSE},?\s+)?(?P<street>(?:\b{_CAPITAL}\s){{1,3}}(?i:{_STREETS}))\b",
        rf"\b(?P<street>(?i:{_ROADS})\.?\s+{_CAPITAL}(?:\s{_CAPITAL}){{0,2}})"
        rf"(?:,?\s*(?:д\.?|дом|n[or]\.?)?\s*{_HOUSE})?",
        rf"\b{_HOUSE},?\s+(?P<street>(?i:{_ROADS})\s+(?:\w+\s){{0,2}}{_CAPITAL})",
        rf"\b(?P<street>[^\W\d_]{{3,}}(?:{CUES.read('street_ends', str)}))\b(?:\s{_HOUSE})?",
    )
)
_INVERTED = re.compile(
    rf"(?:^|[:\]]\s?)((?:(?:{'|'.join(sorted(_PARTICLES))})\s)*{_CAPITAL}), ({_CAPITAL})",
    re.MULTILINE,
)
_NO_PART = _PARTICLES | frozenset(_STREETS.split("|"))
_ACTS = re.compile(
    rf"\b([^\W\d_]{{3,}})(?=\s+(?:{CUES.read('acts', str)})\b"
    r"|,?\s\(?\d{1,3}(?:\s?y|[\s-]years?|[,)]))"
)
_POSTCODE = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b|\b[A-Z]\d[A-Z] ?\d[A-Z]\d\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_ENDS = re.compile(r"[.!?:;\n\r•*\]»]")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a text; `before` is what stands between it and `previous`, the word before."""

    text: str
    before: str
    previous: str

    @property
    def is_capital(self) -> bool:
        """True where it begins with a capital and is no run of capitals."""
        return self.text[0].isupper() and (len(self.text) < 3 or not self.text.isupper())

    @property
    def joins(self) -> bool:
        """True where it goes on with what the word before began, initials and titles included."""
        short = len(self.previous) < 3 or self.previous.casefold() in _TITLES
        return self.before.strip(" \u00a0") == "" or (short and self.before.strip() == ".")

    @property
    def begins(self) -> bool:
        """True at the start of a sentence, where a capital means nothing."""
        return _ENDS.search(self.before) is not None


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a text in lower case, as `words` has them.

    `whole` are names as they stand there, word by word; `parts` single words of them, which are
    only a name again where they are written as one.
    """

    whole: frozenset[str]
    parts: frozenset[str]


def names(text: str) -> Names:
    """The names and addresses in a `visible` text."""
    found = list(_words(text))
    whole: set[str] = set()
    parts: set[str] = set()
    for sequence in (*_introduced(found), *_in_a_row(found), *_acting(text), *_inverted(text)):
        own = (word for word in sequence if word.casefold() not in _TITLES | _INTRODUCTIONS)
        spelled = tokens(" ".join(own))[:LONGEST]
        if len(spelled) > 1:
            whole.update((" ".join(spelled), " ".join(reversed(spelled))))
            pairs = pairwise(spelled)
            whole.update(" ".join(pair) for pair in pairs if not _PARTICLES.issuperset(pair))
        parts.update(word for word in spelled if len(word) > 2 and word not in _NO_PART)
    whole.update(" ".join(tokens(name)) for name in (*_addresses(text), *han_names(text)))
    return Names(frozenset(whole - {""}), frozenset(parts))


def written_as_names(text: str) -> frozenset[str]:
    """Single words of a `visible` text that are written like names: capitalised within a sentence
    or behind a title."""
    return frozenset(
        part
        for word in _words(text)
        if (word.text[0].isupper() and not word.begins) or word.previous.casefold() in _TITLES
        for part in tokens(word.text)
    )


def lower_case_words(text: str) -> frozenset[str]:
    """The words that a `visible` text writes in lower case."""
    return frozenset(word.text for word in _words(text) if word.text.islower())


def _words(text: str) -> Iterator[_Word]:
    last, previous = 0, ""
    for match in _WORD.finditer(text):
        yield _Word(match.group(), text[last : match.start()] if last else "\n", previous)
        last, previous = match.end(), match.group()


def _introduced(found: Sequence[_Word]) -> Iterator[list[str]]:
    """Names behind a title, a greeting or a label; one word is enough."""
    for row, word in enumerate(found):
        cue = word.text.casefold()
        if cue not in _TITLES and cue not in _INTRODUCTIONS:
            continue
        at = row + 1
        while at < min(len(found), row + 4) and found[at].text.casefold() in _BETWEEN | _TITLES:
            at += 1
        if at >= len(found) or len(found[at].text) < 3:
            continue
        first = found[at]
        if first.joins or (cue in _INTRODUCTIONS and not first.before.strip(" ,:\t")):
            sequence = _name_at(found, at, shouted=True)
            yield sequence or ([first.text] if cue in ("mr", "mrs") else [])


def _in_a_row(found: Sequence[_Word]) -> Iterator[list[str]]:
    """Two to four capitalised words with nothing but blanks between."""
    at = 0
    while at < len(found):
        sequence = _name_at(found, at, shouted=False)
        capitals = sum(word[0].isupper() for word in sequence)
        if 2 <= capitals <= 4:
            yield sequence
        at += max(len(sequence), 1)


def _name_at(found: Sequence[_Word], at: int, *, shouted: bool) -> list[str]:
    """The capitalised words from `at` on, particles between them included."""
    end = at
    while end < len(found) and end < at + LONGEST:
        word = found[end]
        capital = word.is_capital or (shouted and word.text[0].isupper())
        particle = end > at and word.text.casefold() in _PARTICLES
        if (end > at and not word.joins) or not (capital or particle):
            break
        end += 1
    while end > at and found[end - 1].text.casefold() in _PARTICLES:
        end -= 1
    return [word.text for word in found[at:end]]


def _acting(text: str) -> Iterator[list[str]]:
    """Capitalised words that do what a person does in a note, or have an age."""
    for match in _ACTS.finditer(text):
        if match[1].istitle():
            yield [match[1]]


def _inverted(text: str) -> Iterator[list[str]]:
    """Surname first, with a comma, where a line or a label begins."""
    for match in _INVERTED.finditer(text):
        yield from ([match[1], match[2]], [match[2], match[1]])


def _addresses(text: str) -> Iterator[str]:
    """Streets, each alone and with its house before, behind and as it was written."""
    for pattern in _ADDRESSES:
        for match in pattern.finditer(text):
            street, house = match["street"], match["house"]
            yield from (street, match.group())
            if house:
                yield from (f"{house} {street}", f"{street} {house}")
    for match in _POSTCODE.finditer(text):
        yield match.group()
