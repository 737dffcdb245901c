"""The simulated models behind a provider on loopback: a networked campaign without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from tests.benchmarks.loopback import completion

from heldout.reflectors.simulated.model import simulated_models
from heldout.students.models.chat import (
    Budget,
    ChatModel,
    ChatReply,
    ChatRequest,
    Message,
    ModelPin,
)

NAMES = {"judge": "sim/judge", "reflector": "sim/reflector", "placebo": "sim/placebo"}
"""What a model is called at the endpoint, and the simulated model that answers there."""


class Simulations:
    """Answers chat completions as the simulated models would; of use as a `Provider.answer`."""

    def __init__(self) -> None:
        self._models = simulated_models()

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        """The completion that the simulated model named in `body` gives."""
        name = NAMES[body["model"]]
        messages = tuple(Message(m["role"], m["content"]) for m in body["messages"])
        budget = Budget(body["max_tokens"], body.get("reasoning_effort"))
        request = ChatRequest(ModelPin(name, body["temperature"]), messages, budget, body["seed"])
        return _body(_answer(self._models[name], request))


def _answer(model: ChatModel, request: ChatRequest) -> ChatReply:
    """The reply of a model that never waits, without an event loop."""
    answering = model.complete(request)
    try:
        answering.__await__().__next__()
    except StopIteration as done:
        reply: ChatReply = done.value
        return reply
    raise RuntimeError(f"{request.pin.id} waited for something")


def _body(reply: ChatReply) -> dict[str, Any]:
    usage = reply.usage
    body = completion(reply.text, model=reply.model, finish=reply.finish.value)
    body["usage"] = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.total,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }
    return body


def write_pins(
    path: Path, api_base: str, key_env: str | None = None, door: str | None = None
) -> None:
    """A pins file that names the models at `api_base`; what they cost is known to be nothing."""
    free = {"prompt": 0.0, "completion": 0.0, "date": "2025-01-01"}
    models = {
        f"openai/{name}": {
            "api_base": api_base,
            "key_env": key_env,
            "door": door,
            "prices": free,
        }
        for name in NAMES
    }
    path.write_text(yaml.safe_dump({"models": models}), encoding="utf-8")


def network_settings(pins: Path) -> tuple[str, ...]:
    """Options that make a shipped configuration ask its models over the network."""
    return (
        f"models={pins}",
        "student.model=openai/judge",
        "reflector.model=openai/reflector",
        "tracking.enabled=false",
    )
