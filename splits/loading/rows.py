"""Rows of people's files as pydantic models; a fault names place, field and what would be right."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from heldout.splits.loading.ids import number_text, same_id
from heldout.splits.loading.records import Record, type_name
from heldout.splits.loading.text_files import Faults, suggestion

_NEEDED = {
    "string_type": "text",
    "int_type": "a whole number",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "list_type": "a list",
    "tuple_type": "a list",
}


MOST_SHOWN = 80
"""Characters of a value that a fault repeats."""


class Row(BaseModel):
    """What is read of one record; other fields of it are left alone."""

    model_config = ConfigDict(frozen=True)


R = TypeVar("R", bound=Row)


def read_row(model: type[R], record: Record, faults: Faults) -> R | None:
    """The row that `record` holds; None after any fault, each of which is noted with its field."""
    try:
        return model.model_validate(record.value)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            kind, keys, given = detail["type"], detail["loc"], detail["input"]
            problem = _problem(kind, given, str(keys[-1]), detail.get("ctx", {}))
            faults.add(record.where, f"{_field(keys)}: {problem}")
        return None


def text_problem(text: str) -> str | None:
    """What makes `text` unfit to be judged, or None."""
    if not text.strip():
        return "is blank"
    if "\0" in text:
        return f"NUL character at position {text.index(chr(0)) + 1}"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        if "\udc80" <= text[error.start] <= "\udcff":  # where a byte goes that is no UTF-8
            return "is not UTF-8"
        return f"half of a surrogate pair at position {error.start + 1}"
    return None


def _sound(text: str) -> str:
    if problem := text_problem(text):
        raise ValueError(problem)
    return text


def _printable(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise ValueError(f"{shown(text)} has white space around it or control characters in it")
    return text


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _as_text(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(value)
    return value


def _as_id(value: Any) -> Any:
    return same_id(value) if isinstance(value, str) else _as_text(value)


def _without_bar(text: str) -> str:
    if "|" in text:
        raise ValueError(f"{shown(text)} holds «|», which separates stratum and id")
    return text


Text = Annotated[str, AfterValidator(_sound)]
"""A text that is not blank."""
TextName = Annotated[Text, AfterValidator(_printable), AfterValidator(_composed)]
"""A text fit to be an id; composed and decomposed letters are the same ones."""
Name = Annotated[TextName, BeforeValidator(_as_text)]
"""The same; a number is its text."""
Id = Annotated[Text, BeforeValidator(_as_id), AfterValidator(_printable)]
"""The id of a table's row: what stands around it is taken off."""
Stratum = Annotated[Name, AfterValidator(_without_bar)]
Whole = Annotated[int, Field(strict=True)]


def shown(value: object) -> str:
    """A text as it stands, a long one by its start, anything else by its type."""
    if not isinstance(value, str):
        return type_name(value)
    return repr(value) if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]!r}…"


def _field(keys: tuple[int | str, ...]) -> str:
    dotted = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return dotted.removeprefix(".")


def _problem(kind: str, given: Any, field: str, context: Mapping[str, Any]) -> str:
    if kind == "missing":
        near = suggestion(field, [name for name in given if isinstance(name, str)])
        return f"missing{near.replace('did you mean', 'is it')}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_unicode":
        return text_problem(given) or "is no sound text"
    if given is None:
        return "null, a value is needed"
    if kind in ("enum", "literal_error"):
        return not_one_of(given, re.findall(r"'([^']*)'", context["expected"]))
    return f"{_NEEDED[kind]} is needed, not {type_name(given)}"


def not_one_of(given: object, names: list[str]) -> str:
    """The fault of a value that is none of `names`, with the nearest of them."""
    near = suggestion(given, names) if isinstance(given, str) else ""
    return f"{shown(given)} is not one of {', '.join(names)}{near}"
