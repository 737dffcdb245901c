"""What a call costs, from the prices of its pin."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.students.models.chat import Message, ModelPin

BYTES_A_TOKEN = 3
"""A bound from below: English clinical text has about 4 bytes a token, other scripts 3 or more."""

TOKENS_A_MESSAGE = 8
"""What chat templates add to one message, at most."""


def cost_usd(pin: ModelPin, prompt: int, completion: int, cached: int = 0) -> float | None:
    """USD of a call; None where the pin gives no price. `cached` tokens are part of `prompt`.

    Where the pin has no price for cached tokens they cost the full one.
    """
    if pin.usd_per_million_prompt is None or pin.usd_per_million_completion is None:
        return None
    cheap = pin.usd_per_million_cached
    rate = pin.usd_per_million_prompt if cheap is None else cheap
    paid = (prompt - cached) * pin.usd_per_million_prompt + cached * rate
    return (paid + completion * pin.usd_per_million_completion) / 1e6


def prompt_tokens_bound(messages: Sequence[Message]) -> int:
    """A number of tokens that these messages are hardly ever above."""
    size = sum(
        len(m.content) if m.content.isascii() else len(m.content.encode("utf-8", "surrogatepass"))
        for m in messages
    )
    return -(-size // BYTES_A_TOKEN) + TOKENS_A_MESSAGE * len(messages)
