"""What an answered contract hands back, and how texts are counted in tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass

TOKENS_A_WORD = 1.3


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply before the token cap is applied.

    `text` is the answer; `working` the tokens spent on the way to it, which a reasoning effort
    hides and which otherwise count as written.
    """

    text: str
    working: float


def tokens_of(text: str) -> int:
    """Tokens of `text`, estimated from its words."""
    return math.ceil(len(text.split()) * TOKENS_A_WORD)
