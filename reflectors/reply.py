"""The reply contract: the new block between two marker lines, exactly once.

Strict on purpose. An extractor that takes the first fence to the last, or a reply without any
fence, turns the reflector's own musings into the judge's instructions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

OPEN = "<<<BLOCK"
CLOSE = "BLOCK>>>"
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class ExtractedBlock:
    """The block of a reply, or None and the `problem` in words for the second request."""

    block: str | None
    problem: str = ""

    @property
    def usable(self) -> bool:
        """True if there is a block with something in it."""
        return bool(self.block)


def extract_block(reply: str) -> ExtractedBlock:
    """The one block of `reply`.

    The markers stand alone on their lines, white space aside, each once, in order. An empty block
    is returned as an empty text, which is not usable. A marker in the midst of a line is left to
    the guard, which looks for copied text first. Never raises.
    """
    lines = _LINE_END.split(reply)
    opened = [row for row, line in enumerate(lines) if line.strip() == OPEN]
    closed = [row for row, line in enumerate(lines) if line.strip() == CLOSE]
    if not opened or not closed:
        missing = CLOSE if opened else OPEN
        return ExtractedBlock(None, f"it has no line that holds only {missing}")
    if len(opened) > 1 or len(closed) > 1:
        return ExtractedBlock(None, "it has more than one block")
    if closed[0] < opened[0]:
        return ExtractedBlock(None, f"the line {CLOSE} stands before the line {OPEN}")
    inside = lines[opened[0] + 1 : closed[0]]
    block = "\n".join(line.rstrip() for line in inside).strip()
    return ExtractedBlock(block, "" if block else "its block is empty")
