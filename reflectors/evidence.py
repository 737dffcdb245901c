"""Where an edit stands: the passage around it in both notes, and the nearest words elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

MARGIN = 160
"""Characters of context shown on either side of an edit."""

MAX_SPAN = 400
"""Characters shown of the edited span itself."""

WORD = re.compile(r"[a-z0-9]+")
COMMON = frozenset(
    WORD.findall(
        "a about added after altered an and any are as at be been but by can denies did do does "
        "for from had has have he her his i in is it its me my no not of on or patient reports "
        "she so that the their them there they this to unsupported was we were what when which "
        "with you your"
    )
)


@dataclass(frozen=True, slots=True)
class Passages:
    """The edited passage as the clean twin and as the errored note have it, each on one line."""

    clean: str
    errored: str


def clip(text: str, limit: int) -> str:
    """`text` on one line, cut after `limit` characters with a visible mark."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[:limit].rstrip()} […]"


def edited_passages(clean: str, errored: str, *, margin: int = MARGIN) -> Passages:
    """The single edit between two notes, in whole words, and `margin` characters on either side."""
    before = _in_whole_words(clean, errored, limit=len(clean))
    room = min(len(clean), len(errored)) - before
    after = _in_whole_words(clean[::-1], errored[::-1], limit=room)
    return Passages(_around(clean, before, after, margin), _around(errored, before, after, margin))


def _in_whole_words(first: str, second: str, *, limit: int) -> int:
    """Length of the common beginning, at most `limit`, that cuts no word of either text."""
    pairs = zip(first[:limit], second, strict=False)
    length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    while length and (_cuts_word(first, length) or _cuts_word(second, length)):
        length -= 1
    return length


def _cuts_word(text: str, position: int) -> bool:
    around = text[position - 1 : position + 1]
    return len(around) == 2 and not any(character.isspace() for character in around)


def _around(text: str, before: int, after: int, margin: int) -> str:
    end = len(text) - after
    left, right = text[max(0, before - margin) : before], text[end : end + margin]
    if len(left) < before:  # drop the word that the margin cut
        left = left.partition(" ")[2]
    if end + len(right) < len(text):
        right = right.rpartition(" ")[0]
    return " ".join(f"{left}{clip_span(text[before:end])}{right}".split())


def clip_span(span: str) -> str:
    """The edited span as it stands, its middle left out where it is very long."""
    if len(span) <= MAX_SPAN:
        return span
    return f"{span[: MAX_SPAN // 2]} […] {span[-MAX_SPAN // 2 :]}"


def content_words(text: str) -> frozenset[str]:
    """Lower-case words and numbers of `text` that carry meaning."""
    return frozenset(WORD.findall(text.lower())) - COMMON


def evidence_turn(fact: str, transcript: str) -> str | None:
    """The turn of `transcript` that shares most content words with `fact`, at least two."""
    turns = {str(row): turn for row, turn in enumerate(transcript.splitlines())}
    nearest = closest(fact, turns, at_least=2)
    return None if nearest is None else turns[nearest].strip()


def closest(text: str, others: Mapping[str, str], *, at_least: int = 1) -> str | None:
    """Key of the entry of `others` that shares most content words with `text`.

    Ties go to the shorter entry, then to the earlier one; None if no entry shares `at_least`.
    """
    wanted = content_words(text)
    shared = {key: len(wanted & content_words(other)) for key, other in others.items()}
    best = max(shared, key=lambda key: (shared[key], -len(others[key])), default=None)
    return best if best is not None and shared[best] >= at_least else None
