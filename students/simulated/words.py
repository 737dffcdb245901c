"""Text as words with places, sentence numbers and a crude stem."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(
    r"n't\b|[a-z](?:&[a-z])+\b|\b[a-z]/[a-z]\b|[a-z]+(?:'[a-z]+)*"
    r"|\d+(?:[.,]\d+)*(?:/\d+(?:\.\d+)?)?%?|/(?:day|d|week|wk)\b"
)
_BREAK = re.compile(r"[.!?;\n]")
_QUERY = re.compile(r"(?:^|[\s:(,/-])\?\s?$")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'"})


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """`word` without possessive and plural ending."""
    word = word.removesuffix("'s")
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one text, all lists of equal length.

    `sentence[i]` numbers the sentence of word i from 0; `queried` holds the words with a question
    mark before them, the clinician's sign of doubt.
    """

    text: str
    stems: list[str]
    starts: list[int]
    ends: list[int]
    sentence: list[int]
    queried: frozenset[int]

    def __len__(self) -> int:
        return len(self.stems)


def words_of(text: str) -> Words:
    """`text` taken apart; places are offsets into `text`."""
    lowered = text.translate(_APOSTROPHES).lower()
    if len(lowered) != len(text):  # rare letters grow in lower case; places must stay valid
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    stems: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    sentence: list[int] = []
    queried: set[int] = set()
    last, number = 0, 0
    for match in _WORD.finditer(lowered):
        start = match.start()
        if start - last > 1 or (start > last and lowered[last:start] in ".!?;\n"):
            gap = lowered[last:start]
            if _QUERY.search(gap):
                queried.add(len(stems))
            elif _BREAK.search(gap):
                number += 1
        stems.append(stem(match.group()))
        starts.append(start)
        last = match.end()
        ends.append(last)
        sentence.append(number)
    return Words(text, stems, starts, ends, sentence, frozenset(queried))
