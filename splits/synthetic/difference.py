"""The one stretch in which two texts differ, cut where a reader would cut it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextDifference:
    """`text[:start] + after + text[end:]` turns the first text into the second.

    `start` and `end` are character offsets into the first text, `before` is what stands there.
    """

    start: int
    end: int
    before: str
    after: str

    def apply(self, text: str) -> str:
        """`text` with the stretch exchanged."""
        return text[: self.start] + self.after + text[self.end :]


def one_difference(first: str, second: str) -> TextDifference:
    """The stretch that makes `second` of `first`.

    Something taken out or put in is cut at the start of a sentence where the texts allow it: of
    «Denies A. Denies B.» without its first sentence, «Denies A. » is missing, not «A. Denies ».
    An exchange is cut at whole words.
    """
    start = _shared(first, second)
    limit = min(len(first), len(second)) - start
    tail = _shared(first[::-1][:limit], second[::-1][:limit])
    end, after_end = len(first) - tail, len(second) - tail
    if start == end:
        start = _sentence_start(second, start, after_end - start)
        return TextDifference(start, start, "", second[start : start + after_end - end])
    if start == after_end:
        size = end - start
        start = _sentence_start(first, start, size)
        return TextDifference(start, start + size, first[start : start + size], "")
    while start > 0 and not first[start - 1].isspace():
        start -= 1
    while end < len(first) and first[end - 1].isalnum() and first[end].isalnum():
        end, after_end = end + 1, after_end + 1
    return TextDifference(start, end, first[start:end], second[start:after_end])


def _shared(first: str, second: str) -> int:
    """How many characters two texts have in common from their start."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(first), len(second)))


def _sentence_start(text: str, start: int, size: int) -> int:
    """Where `text[start:start + size]` can be cut instead, for the same text without it."""
    places = [start]
    while places[-1] > 0 and text[places[-1] - 1] == text[places[-1] - 1 + size]:
        places.append(places[-1] - 1)
    for fits in (_begins_sentence, _begins_word):
        for place in places:
            if fits(text, place):
                return place
    return start


def _begins_sentence(text: str, place: int) -> bool:
    return place == 0 or text[place - 1] == "\n" or text[max(0, place - 2) : place] == ". "


def _begins_word(text: str, place: int) -> bool:
    return text[place - 1].isspace() or text[place].isspace()
