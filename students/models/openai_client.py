"""The direct path to servers that speak the OpenAI protocol: vLLM, llama.cpp, Ollama, gateways.

It does what the LiteLLM path does for them at a fraction of its cost per call (docs/models.md has
the figures), with the same normalised reply.
"""

from __future__ import annotations

import json
from functools import cached_property

from heldout.students.models.chat import BODY_BYTES, ChatReply, ChatRequest
from heldout.students.models.normalise import read_reply
from heldout.students.models.payload import payload
from heldout.students.models.secrets import Redact, key_in, redactor
from heldout.students.models.wire import Wire


class OpenAICompatibleModel:
    """A model behind `<api_base>/chat/completions`.

    The key is read from the environment variable `key_env` when it is first needed, and only ever
    stands in the request's header. `cap_field` is what the server calls the cap of a reply's
    tokens, `body_bytes` how much of a reply is read. To be closed with `aclose`.
    """

    def __init__(
        self,
        api_base: str,
        key_env: str | None = None,
        *,
        cap_field: str = "max_tokens",
        body_bytes: int = BODY_BYTES,
    ) -> None:
        self._url = f"{api_base.rstrip('/')}/chat/completions"
        self._key_env, self._cap_field, self._body_bytes = key_env, cap_field, body_bytes

    @cached_property
    def _key(self) -> str:
        return key_in(self._key_env)

    @cached_property
    def _clean(self) -> Redact:
        return redactor(self._key)

    @cached_property
    def _wire(self) -> Wire:
        return Wire(self._clean, self._body_bytes)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One request, no retries. Raises InfrastructureFailure when no reply came back."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        content = json.dumps(payload(request, self._cap_field), ensure_ascii=False).encode()
        received = await self._wire.send("POST", self._url, headers, content)
        return read_reply(received, request, self._clean)

    async def aclose(self) -> None:
        """Close the connections."""
        if "_wire" in vars(self):
            await self._wire.aclose()
