"""Calls, replies and models for tests of the call layer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from heldout.students.calls.call import CallSpec, Stage
from heldout.students.models.chat import (
    Budget,
    ChatReply,
    ChatRequest,
    Message,
    ModelPin,
    StopReason,
    Usage,
)

FREE = ModelPin("test/judge", usd_per_million_prompt=0.0, usd_per_million_completion=0.0)
PRICED = ModelPin("test/judge", usd_per_million_prompt=1.0, usd_per_million_completion=10.0)
UNPRICED = ModelPin("test/judge")


def spec(
    item: str = "note",
    *,
    stage: Stage = Stage.JUDGE,
    pin: ModelPin = FREE,
    text: str = "judge this",
    max_tokens: int = 100,
    attempt: int = 0,
) -> CallSpec:
    """One call about `item`."""
    message = Message("user", f"{text} {item}")
    return CallSpec(stage, item, (message,), pin, Budget(max_tokens), seed=7, attempt=attempt)


def reply(text: str = "fine", *, usd: float | None = 0.0, completion: int = 20) -> ChatReply:
    """One reply."""
    usage = Usage(prompt=50, completion=completion)
    return ChatReply(text, StopReason.STOP, usage, usd, "test/judge-1", raw=f"raw {text}")


class ScriptedModel:
    """Answers from a function of the request and how many requests came before it.

    `delay_s` is its latency; `highest` the most requests it ever had at once.
    """

    def __init__(
        self,
        answer: Callable[[ChatRequest, int], ChatReply] = lambda *_: reply(),
        delay_s: float = 0.0,
    ) -> None:
        self._answer, self._delay_s = answer, delay_s
        self.requests: list[ChatRequest] = []
        self.now = self.highest = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer after the latency."""
        self.requests.append(request)
        number = len(self.requests) - 1
        self.now += 1
        self.highest = max(self.highest, self.now)
        try:
            await asyncio.sleep(self._delay_s)
            return self._answer(request, number)
        finally:
            self.now -= 1
