"""Names that rows are told apart and grouped by: equal ids are equal however they were written."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

_AROUND = " \t\r\n\v\f\u00a0\u200b\ufeff"


def number_text(value: int | float) -> str:
    """A number as its text: 7 and 7.0 are `7`. Raises ValueError where it is not finite."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("is not a finite number")
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def same_id(text: str) -> str:
    """The one form of an id: composed (NFC), one kind of line end, no white space around it."""
    ends = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", ends).strip(_AROUND)


def id_text(value: Any) -> str:
    """`value` as an id; a number is its text. Raises ValueError for anything but both."""
    if isinstance(value, str):
        return same_id(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(value)
    raise ValueError("text or a number is needed")


def id_or_none(value: Any) -> str | None:
    """`value` as an id, None for what cannot be one."""
    try:
        return id_text(value)
    except ValueError:
        return None
