"""One shape for every provider's reply.

The input is the body of a chat completion in the OpenAI layout, as every compatible server sends
it and as LiteLLM makes it of the others. What providers do differently is handled here and
nowhere else: where reasoning stands, which tokens are counted where, how an ending is called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.chat import ChatReply, ModelPin, StopReason, Usage, cost_usd
from heldout.students.models.secrets import Redact, redact

FINISHES = {
    "stop": StopReason.STOP,
    "eos": StopReason.STOP,
    "end_turn": StopReason.STOP,
    "stop_sequence": StopReason.STOP,
    "length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "content_filter": StopReason.FILTER,
    "content_filtered": StopReason.FILTER,
    "safety": StopReason.FILTER,
    "refusal": StopReason.FILTER,
    "recitation": StopReason.FILTER,
    "prohibited_content": StopReason.FILTER,
    "insufficient_system_resource": None,
}
"""How endings are called; None is an ending that is the provider's fault."""

Body = Mapping[str, Any]


def normalised(body: Body, pin: ModelPin, clean: Redact) -> ChatReply:
    """The reply in `body`, priced by `pin`; everything written down passes `clean`.

    Raises InfrastructureFailure where there is nothing to score: no choices, neither content nor
    reasoning, no usage, or an ending that says that the provider broke off.
    """
    choice = _first_choice(body)
    message = choice.get("message") or {}
    finish = _finish(choice, message)
    text, reasoning = _texts(message)
    usage = _usage(body.get("usage") or {})
    if finish is StopReason.STOP and text is None and not reasoning:
        raise InfrastructureFailure("a reply without content", kind="no_content")
    # A filtered prompt was never read, so some providers count nothing for it.
    if usage.total == 0 and finish is not StopReason.FILTER:
        raise InfrastructureFailure("a reply without token usage", kind="no_usage")
    return ChatReply(
        text=clean(text or ""),
        finish=finish,
        usage=usage,
        usd=cost_usd(pin, usage.prompt, usage.completion, usage.cached),
        model=str(body.get("model") or pin.id),
        reasoning=clean(reasoning),
        raw=clean(json.dumps(body, ensure_ascii=False, default=str)),
    )


def filtered(pin: ModelPin, said: str) -> ChatReply:
    """The reply to a request that a content filter turned down with an error status."""
    usd = cost_usd(pin, 0, 0)
    return ChatReply("", StopReason.FILTER, Usage(), usd, pin.id, raw=redact(said))


def _first_choice(body: Body) -> Body:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if isinstance(choices, Sequence) and choices and isinstance(choices[0], Mapping):
        return choices[0]
    error = body.get("error") if isinstance(body, Mapping) else None
    detail = f": {redact(str(error))[:200]}" if error else ""
    raise InfrastructureFailure(f"a reply without choices{detail}", kind="no_choices")


def _finish(choice: Body, message: Body) -> StopReason:
    said = str(choice.get("finish_reason")).lower()
    finish = FINISHES.get(said)
    if finish is None:
        error = choice.get("error")
        detail = f": {redact(str(error))[:200]}" if error else ""
        raise InfrastructureFailure(
            f"a reply that ended with finish_reason {said!r}{detail}", kind="broken_off"
        )
    return StopReason.FILTER if message.get("refusal") else finish


def _texts(message: Body) -> tuple[str | None, str]:
    """Answer and reasoning; the answer is None where the provider sent none."""
    content = message.get("content")
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    thought = thoughts if isinstance(thoughts, str) else ""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping)]
        thought = thought or "".join(_thinking(part) for part in parts)
        content = "".join(part.get("text") or "" for part in parts if part.get("type") == "text")
    if content is None:
        content = message.get("refusal")
    return content, thought


def _thinking(part: Body) -> str:
    if part.get("type") != "thinking":
        return ""
    inner = part.get("thinking")
    if isinstance(inner, str):
        return inner
    return "".join(piece.get("text") or "" for piece in inner or () if isinstance(piece, Mapping))


def _usage(usage: Body) -> Usage:
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    reasoning = _count(usage.get("completion_tokens_details") or {}, "reasoning_tokens")
    cached = (
        _count(usage.get("prompt_tokens_details") or {}, "cached_tokens")
        or _count(usage, "prompt_cache_hit_tokens")
        or _count(usage, "cache_read_input_tokens")
    )
    # Some count reasoning beside the completion instead of inside it; the total tells.
    beside = _count(usage, "total_tokens") == prompt + completion + reasoning
    if reasoning and (beside or reasoning > completion):
        completion += reasoning
    return Usage(prompt, completion, reasoning, min(cached, prompt))


def _count(values: Body, name: str) -> int:
    value = values.get(name)
    return int(value) if isinstance(value, int | float) and value > 0 else 0
