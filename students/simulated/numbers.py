"""Numbers in words and digits."""

from __future__ import annotations

from dataclasses import dataclass

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
ONES = {word: number for number, word in enumerate(_SMALL.split())}
TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """A number and the index behind its words; not `exact`: only an article («a week»)."""

    value: float
    after: int
    exact: bool = True


def number_at(stems: list[str], place: int) -> Number | None:
    """The number that starts at word `place`: «3», «two and a half», «a couple of», «a»."""
    word = stems[place] if place < len(stems) else ""
    if word[:1].isdigit() and "/" not in word:
        return Number(float(word.rstrip("%").replace(",", "")), place + 1)
    if word in ("a", "an"):
        return _article(stems, place)
    if word == "fortnight":
        return Number(1.0, place, exact=False)
    if word == "couple":
        return Number(2.0, place + 1 + (stems[place + 1 : place + 2] == ["of"]))
    if word in TENS:
        ones = ONES.get(stems[place + 1], 0) if place + 1 < len(stems) else 0
        both = 0 < ones < 10
        return Number(TENS[word] + float(ones if both else 0), place + 1 + both)
    return _scaled(stems, place + 1, float(ONES[word])) if word in ONES else None


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
