"""Finding JSON objects in what a model wrote: prose around, fences, cut ends, repeated keys.

Nothing here raises on bad text. An object that was cut off is not an answer, and neither is
anything inside it: a fragment of a longer answer must not pass for a short one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


class ReplyObject(dict[str, Any]):
    """A JSON object as written; `conflicts` holds keys that were given two different values."""

    conflicts: frozenset[str] = frozenset()


def _with_conflicts(pairs: list[tuple[str, Any]]) -> ReplyObject:
    """The object of `pairs`, its contradictory keys noted. Repeating a value is no conflict."""
    result = ReplyObject()
    clashes = set()
    for key, value in pairs:
        if key in result and repr(result[key]) != repr(value):
            clashes.add(key)
        result[key] = value
    result.conflicts = frozenset(clashes)
    return result


def _no_constant(name: str) -> None:
    """NaN and infinities are not JSON: whoever reads the value finds nothing."""
    del name


_DECODER = json.JSONDecoder(
    object_pairs_hook=_with_conflicts, parse_constant=_no_constant, strict=False
)


def json_objects(text: str) -> Iterator[ReplyObject]:
    """Every complete outermost JSON object of `text`, in order of appearance.

    Line breaks inside strings are accepted. Reading stops at an object that the end of the text
    cuts off.
    """
    start = text.find("{")
    while start >= 0:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if _reaches_end(error, text):
                return
            end = start + 1
        except ValueError:  # a number of more digits than Python reads
            end = start + 1
        except RecursionError:  # nested beyond any contract
            return
        else:
            yield value
        start = text.find("{", end)


def _reaches_end(error: json.JSONDecodeError, text: str) -> bool:
    """True if the text ended before the object did."""
    if error.msg.startswith("Unterminated string"):
        return True
    return not text[error.pos :].strip(" \n\r\t`")


def plain(text: str) -> str:
    """`text` on one line, without lone surrogates: safe to hash, store and print."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(whole.split())


def number(value: Any) -> float | None:
    """`value` as a finite float: a JSON number, or a string that is exactly one; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value.strip(), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if abs(result) != float("inf") else None
