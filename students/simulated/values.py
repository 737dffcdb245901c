"""Numbers as speakers and clinicians write them, brought to one form.

A value is (kind, text): «three days», «3/7» and «for 3 days» are all `("duration", "3")` in days.
"""

from __future__ import annotations

from dataclasses import dataclass

_ONES = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen".split(),  # noqa: SIM905
        range(20),
        strict=True,
    )
)
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_DAYS = {
    "minute": 1 / 1440, "min": 1 / 1440, "hour": 1 / 24, "hr": 1 / 24, "day": 1.0, "week": 7.0,
    "wk": 7.0, "fortnight": 14.0, "month": 30.0, "mth": 30.0, "year": 365.0, "yr": 365.0,
    "hrs": 1 / 24, "wks": 7.0, "yrs": 365.0,
}  # fmt: skip
_DOSES = {
    "mg": ("mg", 1.0), "milligram": ("mg", 1.0), "mcg": ("mg", 0.001), "microgram": ("mg", 0.001),
    "g": ("mg", 1000.0), "gram": ("mg", 1000.0), "ml": ("ml", 1.0), "puff": ("puff", 1.0),
    "drop": ("drop", 1.0), "tablet": ("tablet", 1.0), "capsule": ("tablet", 1.0),
    "kg": ("kg", 1.0), "kilo": ("kg", 1.0), "pound": ("lb", 1.0), "lb": ("lb", 1.0),
    "bpm": ("rate", 1.0), "beat": ("rate", 1.0), "percent": ("percent", 1.0),
    "degree": ("degree", 1.0), "c": ("degree", 1.0), "unit": ("unit", 1.0), "pack": ("frequency", 20.0),
    "cigarette": ("frequency", 1.0),
}  # fmt: skip
_PER_DAY = {
    "od": 1, "bd": 2, "bid": 2, "tds": 3, "tid": 3, "qds": 4, "qid": 4,
}  # fmt: skip
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_DATED = {7: 1.0, 52: 7.0, 12: 30.0}
_SCALES = (5, 10, 27, 30)


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
        value = _value_at(stems, place) if _may_start(stems[place]) else None
        if value is None:
            place += 1
        else:
            found.append(value)
            place = value.last + 1
    return found


_OTHER_STARTS = {"a", "an", "couple", "half", "hundred", "fortnight", "every", "morning"}


def _may_start(word: str) -> bool:
    return (
        word[0].isdigit()
        or word in _ONES
        or word in _TENS
        or word in _PER_DAY
        or word in _TIMES
        or word in _OTHER_STARTS
    )


def _value_at(stems: list[str], place: int) -> Value | None:
    word = stems[place]
    if word in _PER_DAY:
        return Value("frequency", str(_PER_DAY[word]), place, place)
    if word in _TIMES and (last := _per_day(stems, place + 1)):
        return Value("frequency", str(_TIMES[word]), place, last)
    if stems[place : place + 3] == ["morning", "and", "evening"]:
        return Value("frequency", "2", place, place + 2)
    if word == "every":
        return _every(stems, place)
    if "/" in word:
        return _fraction(stems, place)
    if word in ("a", "an") and (rated := _ONES.get(stems[place + 1] if stems[place + 1 :] else "")):
        return Value("score", f"{rated}/10", place, place + 1)
    number, after, exact = _number(stems, place)
    if number is None:
        return None
    return _with_unit(stems, place, number, after, exact=exact)


def _every(stems: list[str], place: int) -> Value | None:
    """«every six hours» as times a day."""
    number, after, _ = _number(stems, place + 1)
    if number and after < len(stems) and stems[after] in ("hour", "hr"):
        return Value("frequency", _text(24 / number), place, after)
    return None


def _with_unit(
    stems: list[str], place: int, number: float, after: int, *, exact: bool
) -> Value | None:
    """The value that starts at `place` with `number`, whose words end before `after`.

    `exact` is False for «a», which is a number only before a unit.
    """
    unit = stems[after] if after < len(stems) else ""
    if unit in _DAYS:
        return Value("duration", _text(number * _DAYS[unit]), place, after)
    if unit in _DOSES and not (unit == "c" and number < 30):
        kind, scale = _DOSES[unit]
        return Value(kind, _text(number * scale), place, _past_period(stems, after))
    if not exact:
        return None
    if unit == "time" and (last := _per_day(stems, after + 1)):
        return Value("frequency", _text(number), place, last)
    if last := _per_day(stems, after):
        return Value("frequency", _text(number), place, last)
    if stems[after : after + 2] == ["out", "of"]:
        whole, end, _ = _number(stems, after + 2)
        if whole is not None:
            return Value("score", f"{_text(number)}/{_text(whole)}", place, end - 1)
    if unit == "over":
        low, end, _ = _number(stems, after + 1)
        if low is not None:
            return Value("pressure", f"{_text(number)}/{_text(low)}", place, end - 1)
    if stems[place].endswith("%"):
        return Value("percent", _text(number), place, place)
    if "." in stems[place] and 34 < number < 43:
        return Value("degree", _text(number), place, place)
    return Value("number", _text(number), place, after - 1)


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
    above, below = stems[place].rstrip("%").split("/")
    top, bottom = float(above.replace(",", "")), float(below)
    if bottom in _DATED and top < 40:
        return Value("duration", _text(top * _DATED[int(bottom)]), place, place)
    if top >= 60 and bottom >= 30:
        return Value("pressure", f"{_text(top)}/{_text(bottom)}", place, place)
    if bottom in _SCALES and top <= bottom:
        return Value("score", f"{_text(top)}/{_text(bottom)}", place, place)
    return Value("number", stems[place], place, place)


def _number(stems: list[str], place: int) -> tuple[float | None, int, bool]:
    """(number, index after its words, False if it is only an article)."""
    word = stems[place] if place < len(stems) else ""
    if word[:1].isdigit() and "/" not in word:
        return float(word.rstrip("%").replace(",", "")), place + 1, True
    if word in ("a", "an"):
        following = stems[place + 1 : place + 3]
        if following[:1] == ["couple"]:
            return 2.0, place + 2 + (following[1:] == ["of"]), True
        if following[:1] == ["hundred"]:
            return _tail(stems, place + 2, 100.0)
        return 1.0, place + 1, False
    if word == "fortnight":
        return 1.0, place, False
    if word == "couple":
        return 2.0, place + 1 + (stems[place + 1 : place + 2] == ["of"]), True
    if word in _TENS:
        unit = stems[place + 1] if place + 1 < len(stems) else ""
        ones = _ONES.get(unit, 0)
        if 0 < ones < 10:
            return _TENS[word] + float(ones), place + 2, True
        return float(_TENS[word]), place + 1, True
    if word in _ONES:
        return _scaled(stems, place + 1, float(_ONES[word]))
    return None, place, False


def _scaled(stems: list[str], place: int, number: float) -> tuple[float | None, int, bool]:
    """«two hundred and fifty», «two and a half»."""
    if stems[place : place + 1] == ["hundred"]:
        return _tail(stems, place + 1, number * 100)
    if stems[place : place + 3] == ["and", "a", "half"]:
        return number + 0.5, place + 3, True
    return number, place, True


def _tail(stems: list[str], place: int, hundreds: float) -> tuple[float | None, int, bool]:
    """What follows «hundred»."""
    skip = place + (stems[place : place + 1] == ["and"])
    rest, after, exact = _number(stems, skip) if skip < len(stems) else (None, place, False)
    if rest is not None and exact and 0 < rest < 100:
        return hundreds + rest, after, True
    return hundreds, place, True


def _text(number: float) -> str:
    return f"{number:.4g}"
