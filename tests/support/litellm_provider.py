"""The simulated models as a LiteLLM provider, for programs that speak LiteLLM only (DSPy)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.students.models.chat import (
    Budget,
    ChatModel,
    ChatReply,
    ChatRequest,
    Message,
    ModelPin,
    StopReason,
)
from heldout.students.models.litellm_client import litellm_module

PROVIDER = "sim"
OPENAI_NAMES = {
    StopReason.STOP: "stop",
    StopReason.LENGTH: "length",
    StopReason.FILTER: "content_filter",
}


def register_simulated(models: Mapping[str, ChatModel], pins: Mapping[str, ModelPin]) -> None:
    """Make `sim/…` ids work in LiteLLM; `pins` give what a request cannot carry (parameters).

    Registering again replaces what was registered. Callers that pass a reasoning effort add
    `allowed_openai_params=["reasoning_effort"]`, which LiteLLM wants for every custom provider.
    """
    litellm = litellm_module()
    others = [entry for entry in litellm.custom_provider_map if entry["provider"] != PROVIDER]
    handler = _handler_class(litellm)(dict(models), dict(pins))
    litellm.custom_provider_map = [*others, {"provider": PROVIDER, "custom_handler": handler}]
    litellm.utils.custom_llm_setup()


def _handler_class(litellm: Any) -> Any:
    class Handler(litellm.CustomLLM):  # type: ignore[misc]  # LiteLLM has no types
        """Answers LiteLLM's requests from the in-process models."""

        def __init__(self, models: Mapping[str, ChatModel], pins: Mapping[str, ModelPin]) -> None:
            super().__init__()
            self._models, self._pins = models, pins

        async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
            """One completion."""
            del args
            request = self._request(kwargs)
            reply = await self._models[request.pin.id].complete(request)
            return _response(litellm, reply)

        def completion(self, *args: Any, **kwargs: Any) -> Any:
            """The same for callers without an event loop; the models never wait."""
            awaited = self.acompletion(*args, **kwargs)
            try:
                awaited.send(None)
            except StopIteration as done:
                return done.value
            raise RuntimeError("a simulated model waited for something")

        def _request(self, call: Mapping[str, Any]) -> ChatRequest:
            options = call["optional_params"]
            pin = self._pins[f"{PROVIDER}/{call['model']}"]
            temperature = options.get("temperature", pin.temperature)
            messages = tuple(Message(m["role"], m["content"]) for m in call["messages"])
            cap = options.get("max_tokens") or options.get("max_completion_tokens")
            if cap is None:
                raise ValueError(f"{pin.id}: max_tokens is part of the experiment, give it")
            budget = Budget(cap, options.get("reasoning_effort"))
            changed = ModelPin(pin.id, temperature, pin.parameters, *_prices(pin))
            return ChatRequest(changed, messages, budget, options.get("seed", 0))

    return Handler


def _prices(pin: ModelPin) -> tuple[float | None, float | None, float | None]:
    return pin.usd_per_million_prompt, pin.usd_per_million_completion, pin.usd_per_million_cached


def _response(litellm: Any, reply: ChatReply) -> Any:
    message = {"role": "assistant", "content": reply.text}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    usage = reply.usage
    return litellm.ModelResponse(
        model=reply.model,
        choices=[
            {"index": 0, "message": message, "finish_reason": OPENAI_NAMES[reply.finish]},
        ],
        usage=litellm.Usage(
            prompt_tokens=usage.prompt,
            completion_tokens=usage.completion,
            total_tokens=usage.total,
            completion_tokens_details={"reasoning_tokens": usage.reasoning},
            prompt_tokens_details={"cached_tokens": usage.cached},
        ),
    )
