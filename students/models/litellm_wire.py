"""LiteLLM on our wire: it makes the request, we send it and read what comes back.

LiteLLM has a client of its own for nearly every provider, and all of them take their transport
from one function. In its place stands `_Transport`, which hands the request of a call to the
`Wire` of the door that made the call, and everything else (what a program beside us sends through
LiteLLM, an exchange of a credential for a token) to the transport that LiteLLM would have had.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpx

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.bodies import read_body
from heldout.students.models.chat import ChatReply, ChatRequest
from heldout.students.models.normalise import read_reply, refused
from heldout.students.models.received import Received
from heldout.students.models.secrets import Redact
from heldout.students.models.wire import Wire

CHAT = "/chat/completions"
"""Behind an address that ends so stands the protocol that `normalise` reads."""

STAND_IN = json.dumps(
    {
        "id": "stand-in",
        "object": "chat.completion",
        "created": 0,
        "model": "stand-in",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "-"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
).encode()
"""What LiteLLM is given of a reply that is read here, byte for byte as the direct door reads it."""


@dataclass
class LiteLLMCall:
    """One call on its way through LiteLLM: what came back, and what became of it."""

    wire: Wire
    request: ChatRequest
    clean: Redact
    received: Received | None = None
    reply: ChatReply | None = None
    fault: InfrastructureFailure | None = None

    def outcome(self) -> ChatReply | None:
        """The reply where it was read here; None where LiteLLM has to translate it.

        Raises InfrastructureFailure where the call ended in one.
        """
        if self.fault is not None:
            raise self.fault
        return self.reply

    async def answer(self, request: httpx.Request) -> bytes:
        """Send the call's request; the body that LiteLLM is given. Raises InfrastructureFailure."""
        content = await request.aread()
        try:
            self.received = await self.wire.send(
                request.method, str(request.url), request.headers, content
            )
            return self._read(request.url.path, content, self.received)
        except InfrastructureFailure as fault:
            self.fault = fault if self.reply is None else None
            raise

    def _read(self, path: str, asked: bytes, received: Received) -> bytes:
        # LiteLLM makes a tool of an answer's schema for models that have no schemas, and then an
        # answer of the tool's call.
        if path.endswith(CHAT) and b'"tools":' not in asked:
            self.reply = read_reply(received, self.request, self.clean)
            return STAND_IN
        if not received.well:
            self.reply = refused(received, self.request, self.clean)
            raise InfrastructureFailure("the reply is read, LiteLLM need not go on")
        return json.dumps(read_body(received.body, self.clean)).encode()


_CALL: ContextVar[LiteLLMCall | None] = ContextVar("call", default=None)


@contextmanager
def making(call: LiteLLMCall) -> Iterator[LiteLLMCall]:
    """Calls of LiteLLM within the block go over its wire."""
    token = _CALL.set(call)
    try:
        yield call
    finally:
        _CALL.reset(token)


def keep_to_our_wire() -> None:
    """Put our transport in the place of LiteLLM's; doing it again changes nothing."""
    from litellm.llms.custom_httpx.http_handler import (  # noqa: PLC0415 - see litellm_module
        AsyncHTTPHandler,
    )

    handler: Any = AsyncHTTPHandler
    theirs = handler.create_async_transport
    if getattr(theirs, "ours", False):
        return

    def create_async_transport(*args: Any, **kwargs: Any) -> _Transport:
        return _Transport(theirs(*args, **kwargs) or httpx.AsyncHTTPTransport())

    create_async_transport.ours = True  # type: ignore[attr-defined]
    handler.create_async_transport = staticmethod(create_async_transport)


class _Transport(httpx.AsyncBaseTransport):
    """The transport of LiteLLM's clients; `theirs` carries what is no call of ours."""

    def __init__(self, theirs: httpx.AsyncBaseTransport) -> None:
        self._theirs = theirs

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response that LiteLLM gets."""
        call = _CALL.get()
        kind = request.headers.get("content-type", "")
        if call is None or request.method != "POST" or "json" not in kind:
            return await self._theirs.handle_async_request(request)
        body = await call.answer(request)
        return httpx.Response(200, headers={"Content-Type": "application/json"}, content=body)

    async def aclose(self) -> None:
        """Close what is theirs."""
        await self._theirs.aclose()
