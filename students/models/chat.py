"""Chat models: one protocol, one request, one normalised reply, and what a call costs.

Implementations: `openai_client`, `litellm_client`, and the simulated models, which run in process.
Whatever a provider returns, the rest of Heldout sees a `ChatReply`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

BYTES_A_TOKEN = 3
"""A bound from below: English clinical text has about 4 bytes a token, other scripts 3 or more."""

TOKENS_A_MESSAGE = 8
"""What chat templates add to one message, at most."""


BODY_BYTES = 8_000_000
"""How much of a reply's body is read where the pin says nothing else."""


class StopReason(StrEnum):
    """Why a model stopped: done, at the token cap, or a content filter."""

    STOP = "stop"
    LENGTH = "length"
    FILTER = "content_filter"


class Structured(StrEnum):
    """How an endpoint is told what an answer looks like: not at all, or by one of these.

    The first two are OpenAI's `response_format`; `grammar` is llama.cpp's field of that name.
    """

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    GRAMMAR = "grammar"
    NONE = "none"


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
class Dialect:
    """What an endpoint does otherwise than the protocol says; as it stands, nothing.

    `omit` are the fields of a request that it refuses (of `seed`, `temperature`); with
    `counts_tokens` False it gives no usage, and tokens are estimated; `endings` are finish reasons
    of its own.
    """

    omit: tuple[str, ...] = ()
    counts_tokens: bool = True
    endings: Mapping[str, StopReason] = field(default_factory=dict)

    @property
    def told(self) -> dict[str, Any]:
        """What of it changes a call, as it is recorded; empty where nothing does."""
        told: dict[str, Any] = {"omit": sorted(self.omit)} if self.omit else {}
        return told if self.counts_tokens else {**told, "usage": ESTIMATED}


ESTIMATED = "estimated"


def says_estimated(recorded: Mapping[str, Any]) -> bool:
    """True if the recorded parameters of a call say that its endpoint counts no tokens."""
    dialect = recorded.get("dialect")
    return isinstance(dialect, Mapping) and dialect.get("usage") == ESTIMATED


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
    structured: Structured = Structured.NONE
    """Its answers are structured by the contract of each call, see `students.structured`."""
    bounded: bool = False
    """A schema may bound the length of texts and lists; hosted endpoints refuse that."""
    dialect: Dialect = Dialect()

    @property
    def recorded(self) -> dict[str, Any]:
        """The parameters as a call's key and its stored row hold them: with what the dialect says.

        Where it says nothing they are what they always were.
        """
        told = self.dialect.told
        return {**self.parameters, "dialect": told} if told else dict(self.parameters)

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
    """Tokens of one call. `reasoning` is part of `completion`, `cached` part of `prompt`.

    `estimated` says that they were counted here, because the endpoint does not.
    """

    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    cached: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Tokens read and written."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back, in one shape for every provider.

    `usd` is None when the price is unknown; `model` is the name the provider says it served.
    `text` is the answer without thoughts, which stand in `reasoning`; `raw` holds all of it.
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
