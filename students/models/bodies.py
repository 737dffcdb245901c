"""The body of a reply as JSON values in which no secret stands any more.

Whatever reads a reply reads what `read_body` gives, so nothing can be written down that was not
masked: names and texts at every depth, and numbers that spell a key.
"""

from __future__ import annotations

import json
from typing import Any

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.secrets import MASK, SHORTEST, Redact

DEEPEST = 100
"""No protocol nests a reply deeper, and what reads it later may call itself for each level."""


def read_body(body: bytes, clean: Redact) -> Any:
    """The JSON value of `body`, every text in it cleaned and without lone surrogates.

    Raises InfrastructureFailure (`not_json`) for everything that is none: another format, another
    encoding, nesting or numbers that no reader takes.
    """
    try:
        return _masked(json.loads(body, parse_constant=_no_constant), clean)
    except (ValueError, RecursionError) as error:
        raise InfrastructureFailure("a body that is not JSON", kind="not_json") from error


def read_text(body: bytes, clean: Redact) -> str:
    """The text of a body in whatever encoding, cleaned; what is no UTF-8 becomes U+FFFD."""
    return clean(body.decode("utf-8", "replace"))


def whole_text(text: str) -> str:
    """`text` with every lone surrogate, which no encoding takes, replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _no_constant(name: str) -> None:
    """NaN and the infinities are no JSON, but some servers write them among log probabilities."""
    del name


def _masked(value: Any, clean: Redact, depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return clean(whole_text(value))
    if isinstance(value, list):
        return [_masked(item, clean, depth + 1) for item in value]
    if isinstance(value, dict):
        inner = depth + 1
        return {clean(whole_text(k)): _masked(item, clean, inner) for k, item in value.items()}
    if isinstance(value, bool) or value is None:
        return value
    written = repr(value)
    return MASK if len(written) >= SHORTEST and clean(written) != written else value
