"""Numbers of three digits or more, and e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

_GROUPS = re.compile(r"\d+(?:[ .\-/()]{1,2}\d+)*")
_DECIMAL = re.compile(r"(?<![\d.,])(\d+)[.,]\d+(?![\d.,]*\d)")
_THOUSANDS = re.compile(r"(?<![\d.,'])[1-9]\d{0,2}(?:[.,'’]\d{3})+(?![\d.,]*\d)")
_QUANTITY = re.compile(
    r"\s*(?:/\s*\d{2,3}\b|%|(?:mg|mcg|µg|μg|ug|g|kg|ml|l|iu|units?|mmhg|mm|cm|m|km|bpm|k?cal|percent"
    r"|per cent|degrees?|hours?|hrs?|h|minutes?|mins?|seconds?|days?|weeks?|months?|words?|points?"
    r"|characters?|letters?|tokens?|lines?|steps?|sentences?|calories|metres?|meters?|feet|miles?"
    r"|мг|мл|г|мкг|ед|слов|дней|часов|мин|λεξεις|ωρες)\b|毫克|克|毫升|小时|字|天|步|単位|文字|歩)",
    re.IGNORECASE,
)
_DIGIT, _AT = re.compile(r"\d"), re.compile(r"@|\bat\b", re.IGNORECASE)
_EMAIL = re.compile(
    r"[\w.+-]+\s?(?:@|[(\[]\s?at\s?[)\]]|\sat\s(?=[\w-]+\sdot\s))\s?"
    r"[\w-]+(?:(?:\.|\s?[(\[]\s?dot\s?[)\]]\s?|\sdot\s)[\w-]+)+",
    re.IGNORECASE,
)
LEAST = 3
"""Digits from which on a number points to somebody."""
_JOINED = 6
"""Digits from which on groups of digits are one number: phone and record numbers."""
_SAY_NOTHING = frozenset({"100", "1000"})


def numbers(text: str) -> frozenset[str]:
    """Every number of `LEAST` digits or more in a `visible` text, as its digits alone.

    Groups of digits with separators between count as one number and each by itself. Of a decimal
    the whole part counts. Common quantities are left out: a round number with its unit.
    """
    if not _DIGIT.search(text):
        return frozenset()
    text = _THOUSANDS.sub(lambda match: re.sub(r"\D", "", match.group()), text)
    text = _DECIMAL.sub(lambda match: match[1], text)
    return frozenset(key for chain in _GROUPS.finditer(text) for key in _of_chain(text, chain))


def emails(text: str) -> frozenset[str]:
    """The e-mail addresses in a `visible` text, as they would be typed."""
    if not _AT.search(text):
        return frozenset()
    return frozenset(_plain(match.group()) for match in _EMAIL.finditer(text))


def _plain(address: str) -> str:
    address = re.sub(r"\s?[(\[]\s?dot\s?[)\]]\s?|\sdot\s", ".", address.casefold())
    address = re.sub(r"\s?[(\[]\s?at\s?[)\]]\s?|\sat\s|\s?@\s?", "@", address)
    return address.strip(".")


def _of_chain(text: str, chain: re.Match[str]) -> Iterator[str]:
    groups = list(re.finditer(r"\d+", chain.group()))
    for group in groups:
        end = chain.start() + group.end()
        if not _is_common(group.group(), text[end : end + 12]) and len(group.group()) >= LEAST:
            yield group.group()
    digits = [group.group() for group in groups]
    for first in range(len(digits)):
        for last in range(first + 2, len(digits) + 1):
            joined = "".join(digits[first:last])
            if len(joined) >= _JOINED:
                yield joined


def _is_common(digits: str, after: str) -> bool:
    """True for a number that says nothing, or a round one that is a quantity: 500 mg, 120/80."""
    number = int(digits[:9])
    is_round = number % (10 if number < 1000 else 50) == 0 or (number < 1000 and number % 25 == 0)
    return digits in _SAY_NOTHING or (is_round and _QUANTITY.match(after) is not None)
