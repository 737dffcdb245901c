"""The direct path to servers that speak the OpenAI protocol: vLLM, llama.cpp, Ollama, gateways.

It does what the LiteLLM path does for them at a fraction of its cost per call (docs/models.md has
the figures), with the same normalised reply.
"""

from __future__ import annotations

import json
import os
from typing import Any

import httpx

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.chat import ChatReply, ChatRequest
from heldout.students.models.http_status import fault_of, is_filter
from heldout.students.models.normalise import filtered, normalised
from heldout.students.models.secrets import redact, redactor

CONNECT_S = 20.0
"""How long opening a connection may take; the caller bounds the whole request."""


class OpenAICompatibleModel:
    """A model behind `<api_base>/chat/completions`.

    The key is read from the environment variable `key_env` and only ever stands in the request's
    header. `cap_field` is what the server calls the cap of a reply's tokens. To be closed with
    `aclose`.
    """

    def __init__(
        self, api_base: str, key_env: str | None = None, *, cap_field: str = "max_tokens"
    ) -> None:
        key = os.environ.get(key_env, "") if key_env else ""
        self._url = f"{api_base.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._cap_field = cap_field
        self._clean = redactor()
        self._trust = httpx.create_ssl_context()
        self._idle: list[httpx.AsyncClient] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One request, no retries. Raises InfrastructureFailure when no reply came back."""
        client = self._idle.pop() if self._idle else self._connected()
        try:
            response = await client.post(self._url, json=payload(request, self._cap_field))
        except httpx.TimeoutException as error:
            raise InfrastructureFailure(f"no reply in time: {error!r}", kind="timeout") from error
        except httpx.ConnectError as error:
            raise InfrastructureFailure(
                redact(f"no connection: {error}"), kind="connect"
            ) from error
        except httpx.TransportError as error:
            raise InfrastructureFailure(
                redact(f"connection lost: {error!r}"), kind="reset"
            ) from error
        finally:
            self._idle.append(client)
        if response.status_code != httpx.codes.OK:
            if is_filter(response.status_code, response.text):
                return filtered(request.pin, response.text)
            raise fault_of(response.status_code, response.text, response.headers)
        try:
            body = json.loads(response.content)
        except ValueError as error:
            raise InfrastructureFailure("a body that is not JSON", kind="not_json") from error
        return normalised(body, request.pin, self._clean)

    def _connected(self) -> httpx.AsyncClient:
        # One client a request in flight: httpx looks through all connections of a pool for every
        # request, which at 96 in flight costs three times what the request does.
        return httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            headers=self._headers,
            verify=self._trust,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        while self._idle:
            await self._idle.pop().aclose()


def payload(request: ChatRequest, cap_field: str = "max_tokens") -> dict[str, Any]:
    """The body of the request: the pin's parameters, then what every call has."""
    pin, budget = request.pin, request.budget
    body = {
        **pin.parameters,
        "model": pin.id.partition("/")[2],
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "temperature": pin.temperature,
        "seed": request.seed,
        cap_field: budget.max_tokens,
    }
    if budget.reasoning_effort is not None:
        body["reasoning_effort"] = budget.reasoning_effort
    return body
