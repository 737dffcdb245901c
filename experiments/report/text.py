"""What a page may show, and how: the one place where `tracking.text` is applied.

Pages are built from `Shown` values only, so a text that a policy withholds cannot reach one. Notes
and transcripts occur in exactly two texts of a run: what the reflector was sent and what it
answered. Blocks have passed the guard, which keeps out every run of eight words of any note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Literal

from heldout.splits.hashing import sha256_text
from heldout.splits.visible import visible

Change = Literal["same", "removed", "added"]
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


class TextPolicy(StrEnum):
    """How much text leaves the run directory: all, none that may be clinical, none at all."""

    FULL = "full"
    HASHES = "hashes"
    NONE = "none"

    def clinical(self, text: str) -> Shown:
        """A text that may hold words of notes or transcripts."""
        return Shown.of(text, self is TextPolicy.FULL)

    def block(self, text: str) -> Shown:
        """An instruction block, or the prompt made from it."""
        return Shown.of(text, self is not TextPolicy.NONE)


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as a page may show it: itself, or only its hash and length."""

    text: str | None
    sha256: str
    length: int

    @classmethod
    def of(cls, text: str, allowed: bool) -> Shown:
        """`text`, withheld unless `allowed`."""
        return cls(text if allowed else None, sha256_text(text), len(text))

    @property
    def or_hash(self) -> str:
        """The text, or a line that says what is withheld."""
        if self.text is not None:
            return self.text
        return f"(withheld: {self.length} characters, SHA-256 {self.sha256})"


def one_line(text: str, limit: int = 200) -> str:
    """`text` in one visible line of at most `limit` characters."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def markdown(text: object) -> str:
    """`text` as words of a Markdown table cell or paragraph: no markup of its own, no HTML."""
    escaped = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", one_line(str(text), 2000))
    # What starts a heading, a quotation or a list does so at the start of a line only.
    escaped = re.sub(r"^([#>]|[+-](?=\s))", r"\\\1", escaped)
    escaped = re.sub(r"^(\d+)([.)])(?=\s)", r"\1\\\2", escaped)
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def fenced(text: str, language: str = "text") -> str:
    """`text` as a fenced block that nothing inside it can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{visible(text)}\n{fence}"


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
