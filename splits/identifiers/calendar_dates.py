"""Dates in whatever spelling: 12/03/1961, 12 March 61, 1961年3月12日, 12 марта 1961."""

from __future__ import annotations

import re
from collections.abc import Iterator

from heldout.splits.identifiers.cues import CUES
from heldout.splits.identifiers.number_words import as_digits

_MONTH = {
    name: number
    for number, names in enumerate(CUES.read("months", list[str]), 1)
    for name in names.split()
}
_NAMED = rf"(?P<name>{'|'.join(sorted(_MONTH, key=len, reverse=True))})\b\.?"
_DAY = r"(?<!\d)(?P<day>\d{1,2})(?!\d)(?:st|nd|rd|th|er|\.|º|ª|-го|η)?"
_YEAR = r"(?:(?<=\W)|(?<=[년年]))'?(?P<year>\d{4}|\d\d)(?![\d:])"
_LINK = r"[\s,./-]*(?:(?:of|de|di|den|del|του)\s+)?"
_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"[^\W\d_]+")
_NAMED_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_DAY}{_LINK}{_NAMED}(?:{_LINK}{_YEAR})?",
        rf"(?<!\d)(?P<year>\d{{4}})[\s,]*{_NAMED}\s*{_DAY}",
        rf"\b{_NAMED}\s*(?:the\s+)?{_DAY}(?:,?\s*(?P<year>\d{{4}})(?!\d))?",
        rf"\b{_NAMED}[\s,]*(?:of\s+|de\s+)?(?P<year>\d{{4}})(?!\d)",
    )
)
_NUMERIC_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<!\d)(?P<year>\d{4}|\d\d(?=\s*[年년]))\s*[-./年년]\s*(?P<month>\d{1,2})(?!\d)\s*[-./月월]?\s*(?:(?P<day>\d{1,2})(?!\d))?",
        r"(?<!\d)(?P<day>\d{1,2})\s*[-./]\s*(?P<month>\d{1,2})\s*[-./]\s*(?P<year>\d{4}|\d\d)(?!\d)",
        r"(?<!\d)(?P<month>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})\s*[日号일]",
        r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>[0-3]\d)(?!\d)",
    )
)
_BUDDHIST = 543
"""Years that the Thai calendar is ahead."""


def dates(line: str) -> tuple[frozenset[str], str]:
    """The dates of a line of `visible` text, one key a date, and the line without them.

    Day and month are kept in order of size, because 12/03 is either; of the year the last two
    digits count. A date may lack its day or its year, not both.
    """
    rest, found = as_digits(line), set[str]()
    if not _DIGIT.search(rest):
        return frozenset(), rest
    named = not _MONTH.keys().isdisjoint(_LETTERS.findall(rest.casefold()))
    for pattern in _NAMED_DATES + _NUMERIC_DATES if named else _NUMERIC_DATES:
        spans = []
        for match in pattern.finditer(rest):
            key = _key(match)
            if key is not None:
                found.add(key)
                spans.append(match.span())
        rest = _without(rest, spans)
    return frozenset(found), rest


def _key(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    name, year, day = parts.get("name"), parts.get("year"), parts.get("day")
    month = _MONTH[name.casefold()] if name else int(parts["month"])
    if day is None:
        in_words = name or re.search("[年년]", match.group())
        return f"month {_short(year)}-{month}" if year and in_words and 1 <= month <= 12 else None
    low, high = sorted((int(day), month))
    if not (1 <= low <= 12 and low <= high <= 31):
        return None
    if year is None:
        # «2 may differ» is no date, «2 May» is.
        return None if name and name.islower() and name.isascii() else f"day {low}-{high}"
    return f"date {_short(year)}-{low}-{high}"


def _short(year: str | None) -> str:
    number = int(year or 0)
    return f"{(number - _BUDDHIST if 2400 < number < 2700 else number) % 100:02d}"


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    return "".join(_pieces(text, spans))


def _pieces(text: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    last = 0
    for start, end in spans:
        yield text[last:start] + " ; "
        last = end
    yield text[last:]
