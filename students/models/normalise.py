"""One shape for every provider's reply: the one reading, whichever door it came through.

The input is the body of a chat completion in the OpenAI layout, as every compatible server sends
it and as LiteLLM makes it of the others. What providers do differently is handled here and
nowhere else: where thoughts stand, which tokens are counted where, how an ending is called. Every
body ends as a reply or as one kind of fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.bodies import read_body, read_text
from heldout.students.models.chat import (
    ChatReply,
    ChatRequest,
    StopReason,
    Usage,
    cost_usd,
)
from heldout.students.models.http_status import error_body, fault_of
from heldout.students.models.messages import Said, said_in
from heldout.students.models.received import Received
from heldout.students.models.secrets import Redact
from heldout.students.models.thinking import Parted, parted
from heldout.students.models.tokens import estimated

_STOPS = """stop eos eos_token eot eot_id end ended end_turn end_of_turn end_of_text endoftext
    im_end done finish finished complete completed success stop_sequence stop_token stop_word
    stop_str s"""
_LENGTHS = """length max_tokens max_token max_length max_new_tokens max_output_tokens token_limit
    max_completion_tokens model_length model_context_window_exceeded truncated incomplete limit"""
_FILTERS = """content_filter content_filtered safety refusal recitation blocklist spii
    prohibited_content guardrail_intervened error_toxic"""
FINISHES = {
    **dict.fromkeys(_STOPS.split(), StopReason.STOP),
    **dict.fromkeys(_LENGTHS.split(), StopReason.LENGTH),
    **dict.fromkeys(_FILTERS.split(), StopReason.FILTER),
}
"""How endings are called, in small letters; what is not here is an ending that broke off."""

BROKEN = frozenset({"error", "insufficient_system_resource", "abort", "aborted", "cancelled"})
"""Endings that are the provider's fault, whatever was written before them."""

MOST_TOKENS = 10**9
"""A larger count is none."""

Body = Mapping[str, Any]


def read_reply(received: Received, request: ChatRequest, clean: Redact) -> ChatReply:
    """The reply that came over the wire to `request`; every text in it passes `clean` first.

    Raises InfrastructureFailure where there is nothing to score: an error status, a body that is
    no JSON, or what `normalised` says.
    """
    if received.well:
        return normalised(read_body(received.body, clean), request, clean)
    return refused(received, request, clean)


def refused(received: Received, request: ChatRequest, clean: Redact) -> ChatReply:
    """The reply to a request that ended in an error status, where a filter turned it down.

    Raises InfrastructureFailure for every other error.
    """
    try:
        said = error_body(read_body(received.body, clean))
    except InfrastructureFailure:
        said = error_body(read_text(received.body, clean))
    if received.status < 500 and said.refuses:
        return filtered(request, read_text(received.body, clean))
    raise fault_of(received.status, said, received.headers)


def normalised(body: Any, request: ChatRequest, clean: Redact) -> ChatReply:
    """The reply in `body`, priced by the request's pin.

    Raises InfrastructureFailure where there is nothing to score: no choices, no text, no usage, an
    empty answer that no token was written for, or an ending that says that the provider broke off.
    """
    raw = _written(body)
    choice = _first_choice(body)
    if choice is None:
        return _without_choices(body, request, raw)
    said = said_in(choice)
    read = parted(said.text or "")
    usage = _usage_of(body, request, said)
    finish = _finish(choice, said, read, usage, request)
    _check(finish, said, read, usage)
    return ChatReply(
        text=clean(read.answer),
        finish=finish,
        usage=usage,
        usd=cost_usd(request.pin, usage.prompt, usage.completion, usage.cached),
        model=clean(_served(body, request)),
        reasoning=clean("\n".join(filter(None, (said.reasoning, read.thoughts)))),
        raw=clean(raw),
    )


def of_text(text: str, finish: StopReason, usage: Usage, model: str) -> ChatReply:
    """The reply of a client that gives text alone: thoughts are taken off here as well."""
    read = parted(text)
    if not read.ended and finish is not StopReason.FILTER:
        finish = StopReason.LENGTH
    return ChatReply(read.answer, finish, usage, None, model, reasoning=read.thoughts)


def filtered(request: ChatRequest, raw: str) -> ChatReply:
    """The reply to a request that a content filter turned down before anything was written."""
    return ChatReply(
        "", StopReason.FILTER, Usage(), cost_usd(request.pin, 0, 0), request.pin.id, raw=raw
    )


def _first_choice(body: Any) -> Body | None:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def _without_choices(body: Any, request: ChatRequest, raw: str) -> ChatReply:
    """An error that came with a status that says all is well, as some gateways send it."""
    error = body.get("error") if isinstance(body, Mapping) else None
    said = error_body(body if error else None)
    if said.refuses:
        return filtered(request, raw)
    if said.status is not None:
        raise fault_of(said.status, said)
    detail = f": {said.words[:200]}" if said.words else ""
    raise InfrastructureFailure(f"a reply without choices{detail}", kind="no_choices")


def _finish(
    choice: Body, said: Said, read: Parted, usage: Usage, request: ChatRequest
) -> StopReason:
    """How the reply ended. Raises InfrastructureFailure for an ending that says it broke off."""
    word = choice.get("finish_reason")
    name = ending_name(word)
    finish = request.pin.dialect.endings.get(name) or FINISHES.get(name)
    if said.refuses or finish is StopReason.FILTER:
        return StopReason.FILTER
    if not read.ended and name not in BROKEN:
        return StopReason.LENGTH  # whatever the server calls it
    if word in (None, "") and read.answer.strip():
        capped = usage.completion >= request.budget.max_tokens
        return StopReason.LENGTH if capped else StopReason.STOP
    if finish is None:
        error = choice.get("error")
        detail = f": {str(error)[:200]}" if error else ""
        raise InfrastructureFailure(
            f"a reply that ended with finish_reason {str(word)[:80]!r}{detail}", kind="broken_off"
        )
    return finish


def ending_name(word: Any) -> str:
    """A finish reason without case, punctuation and the prefix that some protocols write."""
    name = re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_") if isinstance(word, str) else ""
    return name.removeprefix("finish_reason_")


def _check(finish: StopReason, said: Said, read: Parted, usage: Usage) -> None:
    """Raise InfrastructureFailure for what is no reply of the model, whatever else it is."""
    if finish is StopReason.FILTER:
        return  # a filtered prompt was never read, so some providers count nothing for it
    if finish is StopReason.STOP and said.text is None and not said.reasoning:
        raise InfrastructureFailure("a reply without content", kind="no_content")
    if usage.total == 0:
        raise InfrastructureFailure(
            "a reply without token usage; where the endpoint never counts, its pin says "
            "usage: estimated",
            kind="no_usage",
        )
    if read.ended and not read.answer.strip() and usage.completion == 0:
        raise InfrastructureFailure("an empty reply of no tokens", kind="empty")


def _usage_of(body: Body, request: ChatRequest, said: Said) -> Usage:
    if not request.pin.dialect.counts_tokens:
        return estimated(request.messages, said.text or "", said.reasoning)
    usage = body.get("usage")
    return _usage(usage) if isinstance(usage, Mapping) else Usage()


def _usage(usage: Body) -> Usage:
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    reasoning = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    cached = (
        _count(usage.get("prompt_tokens_details"), "cached_tokens")
        or _count(usage, "prompt_cache_hit_tokens")
        or _count(usage, "cache_read_input_tokens")
    )
    # Some count reasoning beside the completion instead of inside it; the total tells.
    beside = _count(usage, "total_tokens") == prompt + completion + reasoning
    if reasoning and (beside or reasoning > completion):
        completion += reasoning
    return Usage(prompt, completion, reasoning, min(cached, prompt))


def _count(values: Any, name: str) -> int:
    """A count of tokens; 0 for what is none, such as a text or 1e400."""
    value = values.get(name) if isinstance(values, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value <= MOST_TOKENS else 0


def _served(body: Body, request: ChatRequest) -> str:
    """The name of the model that answered, as the provider says; else the one that was asked."""
    model = body.get("model")
    return model[:200] if isinstance(model, str) and model.strip() else request.pin.id


def _written(body: Any) -> str:
    """The body as text, for the call store."""
    return json.dumps(body, ensure_ascii=False, default=str)
