"""Word-level difference of two blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Change = Literal["same", "removed", "added"]
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that both blocks have, or only the older, or only the newer one."""

    change: Change
    text: str


def word_diff(old: str, new: str) -> tuple[Piece, ...]:
    """The pieces that turn `old` into `new`, in order.

    Without the added pieces they are `old`, without the removed ones `new`, letter for letter.
    """
    a, b = _PIECES.findall(old), _PIECES.findall(new)
    pieces: list[Piece] = []
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(a[i1:i2])))
            continue
        pieces += _changed("removed", a[i1:i2]) + _changed("added", b[j1:j2])
    return tuple(pieces)


def marked(pieces: Sequence[Piece]) -> str:
    """The difference as text, as word-diff writes it: [-removed-] and {+added+}."""
    marks = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    return "".join(f"{marks[p.change][0]}{p.text}{marks[p.change][1]}" for p in pieces)


def _changed(change: Change, words: Sequence[str]) -> list[Piece]:
    return [Piece(change, "".join(words))] if words else []
