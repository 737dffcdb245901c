"""What a judging costs in tokens, money and time, from its stored calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from heldout.students.calls.store_rows import StoredCall


class Calls(Protocol):
    """Gives back stored calls."""

    def get(self, key: str) -> StoredCall | None:
        """The call with this key."""


@dataclass(frozen=True, slots=True)
class JudgingCost:
    """Means over judgings of one note, a consultation's own stages included in full.

    Tokens: `reasoning` is part of `completion`. `usd` None: a price is unknown, which is not 0.
    `latency_s`: the calls of a judging one after the other.
    """

    calls: float
    prompt: float
    completion: float
    reasoning: float
    usd: float | None
    latency_s: float

    def __add__(self, other: JudgingCost) -> JudgingCost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return JudgingCost(
            self.calls + other.calls,
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.reasoning + other.reasoning,
            usd,
            self.latency_s + other.latency_s,
        )

    def times(self, share: float) -> JudgingCost:
        """The cost where only a share of the notes is judged."""
        return JudgingCost(
            self.calls * share,
            self.prompt * share,
            self.completion * share,
            self.reasoning * share,
            None if self.usd is None else self.usd * share,
            self.latency_s * share,
        )

    def to_json(self) -> dict[str, Any]:
        """All of it, by name."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "reasoning_tokens": self.reasoning,
            "usd": self.usd,
            "latency_s": self.latency_s,
        }


def judging_cost(judgings: Sequence[Iterable[str]], store: Calls) -> JudgingCost:
    """The mean cost of `judgings`, each given as the keys of its calls.

    Raises KeyError for a call that is not stored, ValueError without judgings.
    """
    if not judgings:
        raise ValueError("the cost of no judging")
    found = [_stored(key, store) for keys in judgings for key in keys]
    n = len(judgings)
    prices = [call.reply.usd for call in found]
    known = [price for price in prices if price is not None]
    return JudgingCost(
        calls=len(found) / n,
        prompt=sum(call.reply.usage.prompt for call in found) / n,
        completion=sum(call.reply.usage.completion for call in found) / n,
        reasoning=sum(call.reply.usage.reasoning for call in found) / n,
        usd=sum(known) / n if len(known) == len(prices) else None,
        latency_s=sum(call.latency_s for call in found) / n,
    )


def _stored(key: str, store: Calls) -> StoredCall:
    call = store.get(key)
    if call is None:
        raise KeyError(key)
    return call
