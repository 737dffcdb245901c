"""The body of a chat-completions request, as the direct door and exported judges send it."""

from __future__ import annotations

from typing import Any

from heldout.students.models.bodies import whole_text
from heldout.students.models.chat import ChatRequest


def payload(request: ChatRequest, cap_field: str = "max_tokens") -> dict[str, Any]:
    """The body of the request: the pin's parameters, then what every call has."""
    pin, budget = request.pin, request.budget
    body = {
        **pin.parameters,
        "model": pin.id.partition("/")[2],
        "messages": chat_messages(request),
        "temperature": pin.temperature,
        "seed": request.seed,
        cap_field: budget.max_tokens,
    }
    if budget.reasoning_effort is not None:
        body["reasoning_effort"] = budget.reasoning_effort
    return {name: value for name, value in body.items() if name not in pin.dialect.omit}


def chat_messages(request: ChatRequest) -> list[dict[str, str]]:
    """The messages as they are sent; a lone surrogate, which no encoding takes, is U+FFFD."""
    return [{"role": m.role, "content": whole_text(m.content)} for m in request.messages]
