"""Chat models: one protocol, one request, one normalised reply.

Two implementations exist: LiteLLM (`litellm_door`) and the simulated models, which run in process.
Whatever a provider returns, the rest of Heldout sees a `ChatReply`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable


class StopReason(StrEnum):
    """Why a model stopped: done, at the token cap, or a content filter."""

    STOP = "stop"
    LENGTH = "length"
    FILTER = "content_filter"


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Budget:
    """What a model may spend on one call; part of the experiment, recorded on every candidate.

    `max_tokens` caps the reply, reasoning included. `reasoning_effort` None means that no such
    parameter is sent.
    """

    max_tokens: int
    reasoning_effort: str | None = None


@dataclass(frozen=True, slots=True)
class ModelPin:
    """A model as it is asked for: id, temperature, extra provider parameters, prices.

    Prices are USD a million tokens; None means unknown, which is never taken for free.
    """

    id: str
    temperature: float = 1.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    usd_per_million_prompt: float | None = None
    usd_per_million_completion: float | None = None
    usd_per_million_cached: float | None = None

    @property
    def priced(self) -> bool:
        """True if the cost of a call can be computed from its usage."""
        return None not in (self.usd_per_million_prompt, self.usd_per_million_completion)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call as the provider gets it."""

    pin: ModelPin
    messages: tuple[Message, ...]
    budget: Budget
    seed: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `reasoning` is part of `completion`, `cached` part of `prompt`."""

    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    cached: int = 0

    @property
    def total(self) -> int:
        """Tokens read and written."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back, in one shape for every provider.

    `usd` is None when the price is unknown; `model` is the name the provider says it served.
    """

    text: str
    finish: StopReason
    usage: Usage
    usd: float | None
    model: str
    reasoning: str = ""
    raw: str = ""


class ChatModel(Protocol):
    """Anything that answers a request."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer `request`.

        Raises InfrastructureFailure when no reply came back; a refusal, a cut reply or an
        unreadable one is a reply.
        """


@runtime_checkable
class ConnectedModel(ChatModel, Protocol):
    """A model outside this process: it has connections, and what was sent cannot be unsent."""

    async def aclose(self) -> None:
        """Close the connections."""
