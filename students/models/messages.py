"""The one message of a completion: what it says, what was thought, whether it refuses.

Servers put text in a string or in parts, and thoughts in a field of one of several names or in
parts of several types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.splits.errors import InfrastructureFailure

_THOUGHT = re.compile(r"reason|think|thought", re.IGNORECASE)
"""Names of fields and of types of parts that hold thoughts."""

_TEXTS = frozenset({"", "text", "output_text", "input_text"})
_INNER = ("thinking", "text", "value", "reasoning", "summary", "content")
"""Where the text of a thought or of a part stands; signatures and encrypted thoughts do not."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message as far as it is text; `text` is None where there is none at all."""

    text: str | None
    reasoning: str = ""
    refuses: bool = False


def said_in(choice: Mapping[str, Any]) -> Said:
    """What the message of `choice` says. Raises InfrastructureFailure where it is no message."""
    message = choice.get("message")
    if message is None and isinstance(choice.get("text"), str):
        message = {"content": choice["text"]}  # the protocol before chat
    if not isinstance(message, Mapping):
        raise _without_content(f"a message that is {_kind(message)}")
    content, thoughts = message.get("content"), _thoughts(message)
    refusal = message.get("refusal")
    refusal = refusal if isinstance(refusal, str) and refusal.strip() else None
    if isinstance(content, list):
        found = _of_parts(content)
        return Said(
            refusal if found.text is None else found.text,
            thoughts or found.reasoning,
            refuses=found.refuses or refusal is not None,
        )
    if content is not None and not isinstance(content, str):
        raise _without_content(f"content that is {_kind(content)}")
    return Said(refusal if content is None else content, thoughts, refusal is not None)


def _of_parts(parts: list[Any]) -> Said:
    texts: list[str] = []
    thoughts: list[str] = []
    refusals: list[str] = []
    for part in parts:
        if not isinstance(part, Mapping):
            texts += [part] if isinstance(part, str) else []
            continue
        kind = str(part.get("type") or "").lower()
        if part.get("thought") is True or _THOUGHT.search(kind):
            thoughts.append(_text(part))
        elif kind == "refusal":
            refusals.append(_text(part.get("refusal")))
        elif kind in _TEXTS and "text" in part:
            texts.append(_text(part["text"]))
    text = "".join(texts or refusals) if texts or refusals else None
    return Said(text, "".join(thoughts), refuses=bool(refusals))


def _thoughts(message: Mapping[str, Any]) -> str:
    """The first field of thoughts that holds any; several hold the same ones twice."""
    names = [name for name in message if _THOUGHT.match(name)]
    for name in sorted(names, key=lambda name: name not in ("reasoning_content", "reasoning")):
        found = _text(message[name])
        if found:
            return found
    return ""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_text, value))
    if isinstance(value, Mapping):
        return next(filter(None, (_text(value.get(name)) for name in _INNER)), "")
    return ""


def _without_content(what: str) -> InfrastructureFailure:
    return InfrastructureFailure(f"a reply with {what}", kind="no_content")


def _kind(value: Any) -> str:
    return "missing" if value is None else f"a {type(value).__name__} and no text"
