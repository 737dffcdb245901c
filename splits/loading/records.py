"""Records with the line each stands at: JSON Lines, and a list in one JSON object.

Python's JSON reader takes NaN, and takes the last of two equal keys in silence; here both are
faults.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.splits.errors import BadInput
from heldout.splits.loading.text_files import (
    Faults,
    InputFile,
    decoded,
    raw_lines,
    whole_text,
)


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object, or one row of a table by column, and its place, `file:line`."""

    where: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """A file that is one JSON object: its plain members, and the records of one list in it."""

    members: dict[str, Any]
    records: list[Record]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value, where it ends, and faults that did not keep it from being read."""

    value: Any
    end: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BadRow:
    """What stands where a record should, and everything that is wrong with it."""

    where: str
    problems: tuple[str, ...]


def json_rows(file: InputFile) -> Iterator[Record | BadRow]:
    """One record a line that is not blank, or what keeps the line from being a JSON object."""
    for number, raw in raw_lines(file):
        where, faults = f"{file.path}:{number}", Faults()
        text = faults.attempt(decoded, where, raw)
        parsed = None if text is None else faults.attempt(_whole_value, file.path, text, number)
        found = [] if parsed is None else _record(where, parsed, faults)
        if faults.found:
            yield BadRow(where, tuple(fault.message for fault in faults.found))
        else:
            yield from found


def jsonl_records(file: InputFile, faults: Faults) -> list[Record]:
    """The records of `file`; a line that is no JSON object is noted as a fault."""
    records = []
    for row in json_rows(file):
        if isinstance(row, Record):
            records.append(row)
        else:
            for problem in row.problems:
                faults.add(row.where, problem)
    return records


def object_records(file: InputFile, key: str, faults: Faults) -> ObjectFile:
    """The one JSON object of `file`, with the records of the list at `key`.

    Raises BadInput where the file as a whole is no such object; faults of entries are noted.
    """
    text = whole_text(file)
    whole = _whole_value(file.path, text, 1).value
    if not isinstance(whole, dict):
        raise BadInput.one(f"{file.path}:1", f"an object is needed, not {type_name(whole)}")
    if not isinstance(whole.get(key), list):
        raise BadInput.one(str(file.path), f"{key}: the object must hold a list of this name")
    members = {name: value for name, value in whole.items() if name != key}
    records: list[Record] = []
    seen: set[str] = set()
    line, counted = 1, 0
    for name, position, entry in _walk(text, key):
        line, counted = line + text.count("\n", counted, position), position
        where = f"{file.path}:{line}"
        if entry is not None:
            records.extend(_record(where, entry, faults))
        elif name in seen:
            faults.add(where, f"{name}: stands twice in the object")
        else:
            seen.add(name)
    if not records and not faults.found:
        raise BadInput.one(str(file.path), f"{key}: the list is empty")
    return ObjectFile(members, records)


def type_name(value: object) -> str:
    """The JSON name of the type of `value`, with its article."""
    if value is None:
        return "null"
    names = {bool: "a truth value", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


class _Decoder(json.JSONDecoder):
    """JSON that notes NaN and repeated keys instead of taking them in silence."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        super().__init__(object_pairs_hook=self._unique, parse_constant=self._constant)

    def parse(self, text: str, position: int) -> Parsed:
        self.problems = []
        value, end = self.raw_decode(text, position)
        return Parsed(value, end, tuple(self.problems))

    def _unique(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = sorted({name for name in names if names.count(name) > 1})
            self.problems.extend(f"{name}: stands twice in one object" for name in repeated)
        return found

    def _constant(self, name: str) -> None:
        self.problems.append(f"{name} is not JSON: use null or a finite number")


def _whole_value(path: Path, text: str, line: int) -> Parsed:
    """The one value that `text` is; it starts in `line` of the file at `path`."""
    try:
        parsed = _Decoder().parse(text, _gap(text, 0))
        if text[parsed.end :].strip():
            raise json.JSONDecodeError("Extra data", text, parsed.end)
    except json.JSONDecodeError as error:
        raise BadInput.one(f"{path}:{line + error.lineno - 1}", _syntax(error, text)) from None
    except (RecursionError, ValueError) as error:
        raise BadInput.one(f"{path}:{line}", _unreadable(error)) from None
    return parsed


def _record(where: str, parsed: Parsed, faults: Faults) -> list[Record]:
    for problem in parsed.problems:
        faults.add(where, problem)
    if not isinstance(parsed.value, dict):
        faults.add(where, f"an object is needed, not {type_name(parsed.value)}")
        return []
    return [] if parsed.problems else [Record(where, parsed.value)]


def _walk(text: str, key: str) -> Iterator[tuple[str, int, Parsed | None]]:
    """Name and place of each member of an object known to be sound, None behind them.

    Where the member `key` is a list, its entries follow with their own places.
    """
    decoder = _Decoder()
    position = _gap(text, text.index("{") + 1)
    while text[position] != "}":
        start, name = position, decoder.parse(text, position)
        yield name.value, start, None
        position = _gap(text, name.end)
        if name.value == key and text[position] == "[":
            position = _gap(text, position + 1)
            while text[position] != "]":
                entry = decoder.parse(text, position)
                yield key, position, entry
                position = _gap(text, entry.end)
            position = _gap(text, position + 1)
        else:
            position = _gap(text, decoder.parse(text, position).end)


def _gap(text: str, position: int) -> int:
    """Where the next name, value or bracket is, behind white space and what separates them."""
    while text[position : position + 1] in tuple(" \t\n\r,:"):
        position += 1
    return position


def _syntax(error: json.JSONDecodeError, text: str) -> str:
    truncated = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    hint = " (it ends in mid-value: is the file truncated?)" if truncated else ""
    return f"not JSON: {error.msg} at column {error.colno}{hint}"


def _unreadable(error: Exception) -> str:
    reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).split(";")[0]
    return f"not readable as JSON: {reason}"
