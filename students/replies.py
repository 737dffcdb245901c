"""Finding JSON objects in what a model wrote: prose around, fences, cut ends, repeated keys.

Nothing here raises on bad text. An object that was cut off or is no JSON is not an answer, and
neither is anything inside it: a fragment of a longer answer must not pass for a short one. Names
and words are compared as a reader sees them: letter case, width, accents and characters that show
nothing make no difference, and a letter of another alphabet is never skipped over.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_BRACES = re.compile(r"[{}]")
_OPENS_OBJECT = re.compile(r"\{[\s`]*+(?:[\"'“”‘’]|$)")
_KEY = re.compile(r"(?<![^\s\"'“”‘’{},:=])([^\s\"'“”‘’{},:=]++)[\"'“”‘’]?\s*+[:=]")
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Me", "Mn"})
"""Categories of Unicode that show nothing by themselves."""
_BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def folded(text: str) -> str:
    """`text` as a reader sees it: one case, one width, no accents, nothing that shows nothing."""
    if text.isascii() and text.isprintable():
        return " ".join(text.casefold().split())
    seen = (
        " " if letter.isspace() else letter
        for letter in unicodedata.normalize("NFKD", text).casefold()
        if letter.isspace()
        or (unicodedata.category(letter) not in _HIDDEN and letter not in _BLANK_LETTERS)
    )
    return " ".join("".join(seen).split())


def resembles(text: str, word: str) -> bool:
    """True if `text` could be meant for `word` (folded) but is another: `scоre` with a Cyrillic о.

    Letter for letter the same, but for some that are not of the alphabet, or a digit or sign where
    the word has none.
    """
    shown = folded(text)
    if len(shown) != len(word) or shown == word:
        return False
    odd = [a for a, b in zip(shown, word, strict=True) if a != b]
    digits = any(letter.isdigit() for letter in word)
    strange = all(not a.isascii() or not (a.isalpha() or digits) for a in odd)
    return strange and 2 * len(odd) <= len(word)


class ReplyObject(dict[str, Any]):
    """A JSON object as written; `conflicts` holds keys (folded) given two different values."""

    conflicts: frozenset[str] = frozenset()

    def named(self, field: str) -> list[Any]:
        """The values of the keys that read as `field`; several only where it stands repeatedly."""
        if field in self and len(self) == 1:
            return [self[field]]
        return [value for key, value in self.items() if folded(key) == field]

    def one(self, field: str) -> Any:
        """The value of `field`, the last of several; None where there is none."""
        values = self.named(field)
        return values[-1] if values else None


@dataclass(frozen=True, slots=True)
class Unread:
    """Text that begins like an object and is none; `cut` where the reply ended before it did."""

    text: str
    cut: bool = False

    def mentions(self, *names: str) -> bool:
        """True if one of `names` stands in it like a key."""
        words = _KEY.findall(self.text)
        return any(
            folded(word) == name or resembles(word, name) for word in words for name in names
        )


def _with_conflicts(pairs: list[tuple[str, Any]]) -> ReplyObject:
    """The object of `pairs`, its contradictory keys noted. Repeating a value is no conflict."""
    result = ReplyObject()
    clashes, seen = set(), dict[str, str]()
    for key, value in pairs:
        name, said = folded(key), repr(value)
        if seen.setdefault(name, said) != said:
            clashes.add(name)
        result[key] = value
    result.conflicts = frozenset(clashes)
    return result


def _no_constant(name: str) -> None:
    """NaN and infinities are not JSON: whoever reads the value finds nothing."""
    del name


_DECODER = json.JSONDecoder(
    object_pairs_hook=_with_conflicts, parse_constant=_no_constant, strict=False
)


def json_objects(text: str) -> Iterator[ReplyObject]:
    """Every complete outermost JSON object of `text`, in order of appearance."""
    return (piece for piece in pieces(text) if isinstance(piece, ReplyObject))


def pieces(text: str) -> Iterator[ReplyObject | Unread]:
    """Every outermost JSON object of `text`, and what begins like one and is none, in order.

    Line breaks inside strings are accepted. What is unread ends at the brace that closes it, so
    nothing inside it is found; reading stops where the end of the text cuts an object off.
    """
    closings: dict[int, int] | None = None
    start = text.find("{")
    while start >= 0:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except RecursionError:  # nested beyond any contract
            yield Unread(text[start:], cut=True)
            return
        except ValueError as error:  # no JSON, or a number of more digits than Python reads
            if _is_cut(error, text) and _OPENS_OBJECT.match(text, start):
                yield Unread(text[start:], cut=True)
                return
            closings = _closings(text) if closings is None else closings
            end = _end_of_unread(text, start, closings)
            yield Unread(text[start:end])
        else:
            yield value
        start = text.find("{", end)


def _end_of_unread(text: str, start: int, closings: dict[int, int]) -> int:
    """Where unreadable text ends: at its closing brace; a brace of prose is one character."""
    if start in closings:
        return closings[start]
    return len(text) if _OPENS_OBJECT.match(text, start) else start + 1


def _closings(text: str) -> dict[int, int]:
    """For every opening brace that is closed, where its text ends. Strings are not looked into."""
    open_braces: list[int] = []
    found: dict[int, int] = {}
    for brace in _BRACES.finditer(text):
        if brace[0] == "{":
            open_braces.append(brace.start())
        elif open_braces:
            found[open_braces.pop()] = brace.end()
    return found


def _is_cut(error: ValueError, text: str) -> bool:
    """True if the text ended before the object did."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    if error.msg.startswith("Unterminated string"):
        return True
    return not text[error.pos :].strip(" \n\r\t`")


def plain(text: str) -> str:
    """`text` on one line, without lone surrogates: safe to hash, store and print."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(whole.split())


def number(value: Any) -> float | None:
    """`value` as a finite float: a JSON number, or a string that is exactly one; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value.strip(), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if abs(result) != float("inf") else None
