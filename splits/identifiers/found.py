"""All identifiers of a text as keys, so that two texts can be asked what they have in common."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import StrEnum
from itertools import zip_longest

from heldout.splits.identifiers.calendar_dates import dates
from heldout.splits.identifiers.names import LONGEST, names, written_as_names
from heldout.splits.identifiers.numbers import emails, numbers
from heldout.splits.legible import forms
from heldout.splits.overlap import tokens

WRAPPED = 14
"""Characters of the next line that a line is read with."""

_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’‘ʼ`´][sS]\b")


class IdentifierKind(StrEnum):
    """What an identifier is; its key begins with it."""

    NAME = "name or address"
    PART = "part of a name"
    DATE = "date"
    NUMBER = "number"
    EMAIL = "e-mail address"

    def key(self, value: str) -> str:
        """The key of an identifier of this kind."""
        return f"{self}: {value}"

    @classmethod
    def of(cls, key: str) -> IdentifierKind:
        """The kind of the identifier with this key."""
        return cls(key.partition(": ")[0])


def spelled(key: str) -> list[str]:
    """The words of the identifier with this key."""
    return key.partition(": ")[2].split(" ")


def figures(text: str) -> frozenset[str]:
    """Keys of the dates, numbers and e-mail addresses in `text`."""
    return frozenset(key for form in forms(text) for key in _figures(form))


def called(text: str) -> frozenset[str]:
    """Keys of the names and addresses in `text`, whole and in parts."""
    return frozenset(key for form in forms(text) for key in _called(form))


def mentions(text: str) -> frozenset[str]:
    """Keys of everything in `text` that would be an identifier if another text made it one.

    Any words in a row may be a name that stands elsewhere; a single word only where it is written
    like one.
    """
    return frozenset(key for form in forms(text) for key in _mentioned(form))


def held(text: str, keys: Collection[str]) -> frozenset[str]:
    """Those of `keys`, of names and their parts, that are in `text`, in whatever letter case."""
    sought = frozenset(keys)
    starts = {spelled(key)[0] for key in sought}
    found: set[str] = set()
    for form in forms(text):
        words = tokens(_nominative(form))
        found.update(map(IdentifierKind.PART.key, starts.intersection(words)))
        found.update(_sequences(words, starts))
    return sought & found


def _called(form: str) -> Iterator[str]:
    found = names(_nominative(form))
    yield from map(IdentifierKind.NAME.key, found.whole)
    yield from map(IdentifierKind.PART.key, found.parts)


def _mentioned(form: str) -> Iterator[str]:
    plain = _nominative(form)
    words = tokens(plain)
    yield from _figures(form)
    yield from _sequences(words, frozenset(words))
    yield from map(IdentifierKind.PART.key, written_as_names(plain))


def _nominative(form: str) -> str:
    """`form` without the endings of possessives: a name is the same one in `Jane Doe's`."""
    return _POSSESSIVE.sub("", form)


def _figures(form: str) -> Iterator[str]:
    lines = form.splitlines()
    for line, after in zip_longest(lines, lines[1:], fillvalue=""):
        # A date or a number may be broken where lines are wrapped.
        found, rest = dates(f"{line} {after[:WRAPPED]}")
        yield from map(IdentifierKind.DATE.key, found)
        yield from map(IdentifierKind.EMAIL.key, emails(rest))
        yield from map(IdentifierKind.NUMBER.key, numbers(rest))


def _sequences(words: list[str], starts: Collection[str]) -> Iterator[str]:
    for start, first in enumerate(words):
        if first in starts:
            for size in range(1, min(LONGEST, len(words) - start) + 1):
                yield IdentifierKind.NAME.key(" ".join(words[start : start + size]))
