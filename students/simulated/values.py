"""Numbers as speakers and clinicians write them, brought to one form.

A value is (kind, text): «three days», «3/7» and «for 3 days» are all `("duration", "3")` in days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from heldout.students.simulated.lexicon import WORDS

_ONES = {word: number for number, word in enumerate(WORDS.read("ones", str).split())}
_TENS = {word: 20 + 10 * place for place, word in enumerate(WORDS.read("tens", str).split())}
_DAYS = {unit: size / 1440 for unit, size in WORDS.read("minutes", dict[str, float]).items()}
_DOSES = {
    unit: (kind, scale)
    for kind, units in WORDS.read("doses", dict[str, dict[str, float]]).items()
    for unit, scale in units.items()
}
_PER_DAY = WORDS.read("per_day", dict[str, int])
_TIMES = WORDS.read("times", dict[str, int])
_STARTS = WORDS.words("other_starts").union(_ONES, _TENS, _PER_DAY, _TIMES)
_DATED = {7: 1.0, 52: 7.0, 12: 30.0}
_FIGURE = re.compile(r"\d+\.?\d*")
_SCALES = (5, 10, 27, 30)


@dataclass(frozen=True, slots=True)
class Number:
    """A number and the index behind its words; not `exact`: only an article («a week»)."""

    value: float
    after: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its kind, at words `first` to `last` (included)."""

    kind: str
    text: str
    first: int
    last: int


def values_in(stems: list[str]) -> list[Value]:
    """Every value in `stems`, from left to right."""
    found = []
    place = 0
    while place < len(stems):
        word = stems[place]
        value = _value_at(stems, place) if word[0].isdigit() or word in _STARTS else None
        if value is None:
            place += 1
        else:
            found.append(value)
            place = value.last + 1
    return found


def _value_at(stems: list[str], place: int) -> Value | None:
    word = stems[place]
    often = _frequency(stems, place)
    if often is not None:
        return often
    if "/" in word:
        return _fraction(stems, place)
    rated = _ONES.get(stems[place + 1] if stems[place + 1 :] else "")
    if word in ("a", "an") and rated:
        return Value("score", f"{rated}/10", place, place + 1)
    number = number_at(stems, place)
    return None if number is None else _with_unit(stems, place, number)


def _frequency(stems: list[str], place: int) -> Value | None:
    """«BD», «twice a day», «morning and evening», «every six hours» as times a day."""
    word = stems[place]
    if word in _PER_DAY:
        return Value("frequency", str(_PER_DAY[word]), place, place)
    if word in _TIMES and (last := _per_day(stems, place + 1)):
        return Value("frequency", str(_TIMES[word]), place, last)
    if stems[place : place + 3] == ["morning", "and", "evening"]:
        return Value("frequency", "2", place, place + 2)
    hours = number_at(stems, place + 1) if word == "every" else None
    if hours and hours.value and stems[hours.after : hours.after + 1] in (["hour"], ["hr"]):
        return Value("frequency", _text(24 / hours.value), place, hours.after)
    return None


def _with_unit(stems: list[str], place: int, number: Number) -> Value | None:
    """The value that starts at `place` with `number`; «a» is one only before a unit."""
    after = number.after
    unit = stems[after] if after < len(stems) else ""
    if unit in _DAYS:
        return Value("duration", _text(number.value * _DAYS[unit]), place, after)
    if unit in _DOSES and not (unit == "c" and number.value < 30):
        kind, scale = _DOSES[unit]
        return Value(kind, _text(number.value * scale), place, _past_period(stems, after))
    if not number.exact:
        return None
    last = _per_day(stems, after + 1 if unit == "time" else after)
    if last:
        return Value("frequency", _text(number.value), place, last)
    return _pair(stems, place, number) or _single(stems, place, number)


def _pair(stems: list[str], place: int, number: Number) -> Value | None:
    """«seven out of ten», «118 over 76»."""
    joint = stems[number.after : number.after + 2]
    kind, skip = ("score", 2) if joint == ["out", "of"] else ("pressure", 1)
    if kind == "pressure" and joint[:1] != ["over"]:
        return None
    other = number_at(stems, number.after + skip)
    if other is None:
        return None
    return Value(kind, f"{_text(number.value)}/{_text(other.value)}", place, other.after - 1)


def _single(stems: list[str], place: int, number: Number) -> Value:
    """A number without a unit; a sign or its size may tell what it measures."""
    if stems[place].endswith("%"):
        return Value("percent", _text(number.value), place, place)
    if "." in stems[place] and 34 < number.value < 43:
        return Value("degree", _text(number.value), place, place)
    return Value("number", _text(number.value), place, number.after - 1)


def _per_day(stems: list[str], place: int) -> int:
    """Index of the last word of «a day», «daily», «per day» at `place`, else 0."""
    if stems[place : place + 1] in (["daily"], ["/day"], ["/d"]):
        return place
    pair = stems[place : place + 2]
    if pair in (["a", "day"], ["per", "day"], ["each", "day"]):
        return place + 1
    return 0


def _past_period(stems: list[str], last: int) -> int:
    """`last`, moved over «a week» or «a day» behind it."""
    if last + 1 < len(stems) and (day := _per_day(stems, last + 1)):
        return day
    if stems[last + 1 : last + 2] in (["/week"], ["/wk"], ["weekly"]):
        return last + 1
    return last + 2 if stems[last + 1 : last + 3] in (["a", "week"], ["per", "week"]) else last


def _fraction(stems: list[str], place: int) -> Value:
    """«3/7» is three days, «7/10» a score, «118/76» a pressure."""
    top, bottom, *more = (_written(part) for part in stems[place].split("/"))
    if top is None or bottom is None or more:
        return Value("number", stems[place], place, place)
    if bottom in _DATED and top < 40:
        return Value("duration", _text(top * _DATED[int(bottom)]), place, place)
    if top >= 60 and bottom >= 30:
        return Value("pressure", f"{_text(top)}/{_text(bottom)}", place, place)
    if bottom in _SCALES and top <= bottom:
        return Value("score", f"{_text(top)}/{_text(bottom)}", place, place)
    return Value("number", stems[place], place, place)


def _text(number: float) -> str:
    return f"{number:.4g}"


def _written(word: str) -> float | None:
    """The number that `word` is written as; None for «0.3.285» and the like."""
    plain = word.rstrip("%").replace(",", "")
    return float(plain) if _FIGURE.fullmatch(plain) else None


def number_at(stems: list[str], place: int) -> Number | None:
    """The number that starts at word `place`: «3», «two and a half», «a couple of», «a»."""
    word = stems[place] if place < len(stems) else ""
    if word[:1].isdigit() and "/" not in word:
        figure = _written(word)
        return None if figure is None else Number(figure, place + 1)
    if word in ("a", "an"):
        return _article(stems, place)
    if word == "fortnight":
        return Number(1.0, place, exact=False)
    if word == "couple":
        return Number(2.0, place + 1 + (stems[place + 1 : place + 2] == ["of"]))
    if word in _TENS:
        ones = _ONES.get(stems[place + 1], 0) if place + 1 < len(stems) else 0
        both = 0 < ones < 10
        return Number(_TENS[word] + float(ones if both else 0), place + 1 + both)
    return _scaled(stems, place + 1, float(_ONES[word])) if word in _ONES else None


def _article(stems: list[str], place: int) -> Number:
    """«a», «a couple of», «a hundred and twenty»."""
    following = stems[place + 1 : place + 3]
    if following[:1] == ["couple"]:
        return Number(2.0, place + 2 + (following[1:] == ["of"]))
    if following[:1] == ["hundred"]:
        return _hundreds(stems, place + 2, 100.0)
    return Number(1.0, place + 1, exact=False)


def _scaled(stems: list[str], place: int, number: float) -> Number:
    """«two hundred and fifty», «two and a half»."""
    if stems[place : place + 1] == ["hundred"]:
        return _hundreds(stems, place + 1, number * 100)
    if stems[place : place + 3] == ["and", "a", "half"]:
        return Number(number + 0.5, place + 3)
    return Number(number, place)


def _hundreds(stems: list[str], place: int, hundreds: float) -> Number:
    """`hundreds` with what follows the word «hundred»."""
    rest = number_at(stems, place + (stems[place : place + 1] == ["and"]))
    if rest is not None and rest.exact and 0 < rest.value < 100:
        return Number(hundreds + rest.value, rest.after)
    return Number(hundreds, place)
