"""Numbers that are written out, as digits: «nineteen sixty-one», 一九六一年, 十二月."""

from __future__ import annotations

import re

from heldout.splits.identifiers.cues import CUES


def _numbered(name: str, start: int, step: int = 1) -> dict[str, int]:
    spelled = CUES.read(name, str).split()
    return dict(zip(spelled, range(start, start + step * len(spelled), step), strict=True))


_UNITS, _TENS = _numbered("units", 1), _numbered("tens", 20, 10)
_ORDINALS = {**_numbered("ordinals", 1), "thirtieth": 30}
_DIGIT = {"oh": 0, "zero": 0, "nought": 0, **{w: n for w, n in _UNITS.items() if n < 10}}
_WORDS = frozenset({*_UNITS, *_TENS, *_ORDINALS, *_DIGIT})
_LETTERS = re.compile(r"[^\W\d_]+")
_ANY = "|".join(sorted(_WORDS, key=len, reverse=True))
_WRITTEN = re.compile(
    rf"\b(?:{_ANY})(?:(?:[\s-]+(?:hundred|thousand)(?:\s+and)?)?[\s-]+(?:{_ANY})|[\s-]+thousand)*\b",
    re.IGNORECASE,
)
_HAN = {c: i for i, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "○": 0}
_HAN_NUMBER = re.compile(r"[〇○零一二两三四五六七八九十\d]+(?=\s*[年月日号號])")


def as_digits(text: str) -> str:
    """`text` with English number words of dates and spelled-out numbers, and Chinese numerals
    before 年, 月, 日 and 号, as digits; everything else as it was."""
    if not text.isascii():
        text = _HAN_NUMBER.sub(lambda match: _han(match.group()), text)
    if _WORDS.isdisjoint(_LETTERS.findall(text.casefold())):
        return text
    return _WRITTEN.sub(lambda match: _english(match.group()), text)


def _han(number: str) -> str:
    tens, ten, ones = number.partition("十")
    if not ten:
        return "".join(str(_HAN.get(c, c)) for c in number)
    first, second = (_han(part) if part else "" for part in (tens, ones))
    return f"{first or 1}{second or 0}"


def _english(written: str) -> str:
    """A year in two halves, digit after digit, or a number up to 31; else as it was written."""
    words = re.split(r"[\s-]+", written.casefold())
    if len(words) > 2 and all(word in _DIGIT for word in words):
        return "".join(str(_DIGIT[word]) for word in words)
    if "thousand" in words:
        at = words.index("thousand")
        rest = [word for word in words[at + 1 :] if word != "and"]
        low = _below_hundred(rest) if rest else 0
        return written if low is None else str(1000 * _UNITS.get(words[0], 0) + low)
    numbers = _numbers([word for word in words if word not in ("hundred", "and")])
    match numbers:
        case [number] if len(words) <= 2:
            return str(number)
        case [century, year] if 18 <= century <= 20 and year < 100:
            return f"{century}{year:02d}"
        case [day, century, year] if 18 <= century <= 20:
            return f"{day} {century}{year:02d}"
    return written


def _numbers(words: list[str]) -> list[int]:
    """Consecutive numbers below a hundred: `nineteen sixty one` is 19, 61."""
    found: list[int] = []
    while words:
        size = 2 if _below_hundred(words[:2]) is not None and len(words) > 1 else 1
        number = _below_hundred(words[:size])
        found.append(-1 if number is None else number)
        words = words[size:]
    return found


def _below_hundred(words: list[str]) -> int | None:
    simple = {**_UNITS, **_TENS, **_ORDINALS, "oh": 0}
    match words:
        case [word]:
            return simple.get(word)
        case ["oh", word] if word in _UNITS:
            return _UNITS[word]
        case [tens, ones] if tens in _TENS:
            low = {**_UNITS, **_ORDINALS}.get(ones, 10)
            return _TENS[tens] + low if low < 10 else None
    return None
