"""The reference of events, made from their types: `python -m tests.support.event_reference`.

Everything on the page stands beside the code that it is about: classes with their docstrings,
fields with their types and the docstrings under them. Nothing is kept in two places.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from heldout.gepa.gate.decision import Unwritten
from heldout.gepa.record import kinds
from heldout.gepa.record.codec import BODIES, EventBody
from heldout.gepa.record.kinds import EventKind
from heldout.gepa.record.remarks import Remark

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
COMMAND = "python -m tests.support.event_reference"
HEAD = f"""# Events

A run is its journal: `journal.jsonl` in the run directory, one event a line. This page lists every
event with its fields. It is made from the types in `gepa/record` by
`{COMMAND}`.

| on a line | type | |
|---|---|---|
| `n` | whole number | Number of the line, from 0. |
| `t` | text | Time in UTC, ISO 8601. |
| `kind` | text | One of the headings below. |
| `body` | object | The fields listed there. |
| `prev` | text | `hash` of the line before; 64 zeros on the first. |
| `hash` | text | SHA-256 of `prev`, `n`, `t`, `kind` and `body` as canonical JSON, a line each. |

Deterministic events are computed again and compared when a run is resumed. Remarks record what
happened to the process; they are not compared. The events are of version {kinds.SCHEMA}, which
stands in `schema` of the first event. Journals of older versions still read: a field that they did
not record has its default, and a page says «not recorded».

What ended a search or a run stands in `reason` and `finish_reason`; the closed list is under
[FinishReason](#finishreason).
"""
PLAIN = {
    str: "text", int: "whole number", float: "number", bool: "true or false", Any: "any value",
    NoneType: "null",
}  # fmt: skip
KIND_OF: Mapping[Any, EventKind] = {body: kind for kind, body in BODIES.items()}
NULL = re.compile(r"\bNone\b")


def reference() -> str:
    """The page."""
    parts: dict[type, None] = {}
    listed = [_event(kind, BODIES[kind], parts) for kind in EventKind]
    sections: dict[type, str] = {}
    while left := parts.keys() - sections.keys():
        sections |= {part: _part(part, parts) for part in left}
    by_name = sorted(sections, key=lambda part: part.__name__)
    return "\n".join([HEAD, *listed, "# Parts of events\n", *(sections[p] for p in by_name)])


def _event(kind: EventKind, body: type[EventBody], parts: dict[type, None]) -> str:
    nature = "A remark." if issubclass(body, get_args(Remark)) else "Deterministic."
    base = next((k for k, other in BODIES.items() if other is body.__base__), None)
    fields = _fields(body, parts) if base is None else f"Fields: those of [{base}](#{base}).\n"
    return f"## {kind}\n\n{_prose(body)} {nature}\n\n{fields}"


def _part(part: type, parts: dict[type, None]) -> str:
    if issubclass(part, StrEnum):
        told = _attributes(part)
        rows = [f"- `{member}`{_colon(told.get(member.name))}" for member in part]
        return f"## {part.__name__}\n\n{_prose(part)}\n\n" + "\n".join(rows) + "\n"
    return f"## {part.__name__}\n\n{_prose(part)}\n\n{_fields(part, parts)}"


def _colon(meaning: str | None) -> str:
    return f": {meaning}" if meaning else ""


def _fields(owner: type, parts: dict[type, None]) -> str:
    """A table of the fields, those of parents included."""
    hints = get_type_hints(owner, include_extras=True)
    told: dict[str, str] = {}
    for base in reversed(owner.__mro__):
        told |= _attributes(base)
    lines = ["| field | type | |", "|---|---|---|"]
    for field in dataclasses.fields(owner):
        hint = hints[field.name]
        meaning = [told.get(field.name, ""), *_default(field), *_unwritten(hint)]
        words = " ".join(part for part in meaning if part).replace("|", "\\|")
        lines.append(f"| `{_written(field.name, hint)}` | {_type(hint, parts)} | {words} |")
    return "\n".join(lines) + "\n"


def _default(field: dataclasses.Field[Any]) -> list[str]:
    value = field.default
    if value is dataclasses.MISSING or value is None:
        return []
    return ["Empty by default."] if value == () else [f"Default: `{json.dumps(value)}`."]


def _unwritten(hint: Any) -> list[str]:
    return ["Written only where it has a value."] if Unwritten in _metadata(hint) else []


def _written(name: str, hint: Any) -> str:
    """The key of a field, where it is not its name."""
    found = [m.alias for m in _metadata(hint) if isinstance(m, FieldInfo) and m.alias]
    return found[0] if found else name


def _metadata(hint: Any) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _type(hint: Any, parts: dict[type, None]) -> str:
    """A type in plain words; classes are links to their own section."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if origin is Annotated:
        return _type(args[0], parts)
    if origin in (Union, UnionType):
        return " or ".join(_type(arg, parts) for arg in args)
    if origin is Literal:
        return " or ".join(f"`{arg}`" for arg in args)
    if origin is tuple:
        return f"list of {_type(args[0], parts)}"
    if origin is Mapping:
        return "object" if args[1] is Any else f"object, each value {_type(args[1], parts)}"
    if hint in KIND_OF:
        return f"[{KIND_OF[hint]}](#{KIND_OF[hint]})"
    assert isinstance(hint, type), hint
    parts.setdefault(hint)
    return f"[{hint.__name__}](#{hint.__name__.lower()})"


def _prose(owner: type) -> str:
    """The docstring, in the words of JSON."""
    return NULL.sub("null", inspect.cleandoc(owner.__doc__ or ""))


def _attributes(owner: type) -> dict[str, str]:
    """The docstring under each attribute, in one line."""
    own = owner.__module__.startswith("heldout.")
    return _documented(owner.__module__).get(owner.__name__, {}) if own else {}


@cache
def _documented(module: str) -> dict[str, dict[str, str]]:
    """Docstrings under attributes by class, of one module's source."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    return {
        node.name: dict(_pairs(node.body)) for node in tree.body if isinstance(node, ast.ClassDef)
    }


def _pairs(body: list[ast.stmt]) -> list[tuple[str, str]]:
    """Name and docstring of each attribute that a string literal follows."""
    pairs = []
    for statement, after in pairwise(body):
        target = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]  # type: ignore[assignment]
        if not isinstance(target, ast.Name) or not isinstance(after, ast.Expr):
            continue
        if isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            pairs.append((target.id, NULL.sub("null", " ".join(after.value.value.split()))))
    return pairs


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
