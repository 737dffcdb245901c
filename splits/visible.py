"""Texts from outside, made safe to show: what moves a cursor or reorders text is written out.

Every text that leaves for a person's eyes passes here, once: pages, cards, tables, MLflow and the
terminal. What a model proposes as a block has such signs taken out before anything is made of it.
What is data stays letter for letter: seeds and prompts, stored calls, the journal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# Controls that no text needs, a carriage return that would overwrite its line, and the marks that
# reorder text or cannot be seen: a reader must see that they are there instead of what they do.
# One class without alternatives, since every page passes through it.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\u2028\u2029\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """`text` with control and direction marks written out, as in `⟦U+202E⟧`."""
    return _INVISIBLE.sub(_written_out, text)


def without_signs(text: str) -> str:
    """`text` without these marks, for a text that is to be used and not only shown."""
    return _INVISIBLE.sub(lambda match: match.group() if _ends_line(match) else "", text)


def _written_out(match: re.Match[str]) -> str:
    return match.group() if _ends_line(match) else f"⟦U+{ord(match.group()):04X}⟧"


def _ends_line(match: re.Match[str]) -> bool:
    """True for the carriage return of a line end of two characters."""
    return match.group() == "\r" and match.string.startswith("\n", match.end())


def visible_in(value: Any) -> Any:
    """Every text in JSON values made `visible`, keys included."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible_in(key): visible_in(inner) for key, inner in value.items()}
    return [visible_in(inner) for inner in value] if isinstance(value, list | tuple) else value


def json_text(value: Any, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """The JSON of `value` for a person or a program: nothing is lost, nothing acts on a terminal.

    What `visible` writes out stands as `\\uXXXX`, which every JSON reader takes back to the letter.
    """
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    return _INVISIBLE.sub(lambda match: json.dumps(match.group())[1:-1], text)
