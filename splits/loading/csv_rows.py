"""Delimited text read strictly: no row ever holds another row's text.

Python's own reader in its strict mode refuses a quoted field that goes on behind its closing quote
and one that is never closed. What it cannot see is a stray quote whose partner happens to stand at
the end of a later field: between them lie whole rows, and the bytes are a valid table. So a quoted
field over several lines is a fault where one of its later lines, read alone, has as many fields as
the header and ids like those of the other rows.
"""

from __future__ import annotations

import csv
import io
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from heldout.splits.loading.ids import same_id
from heldout.splits.loading.text_files import MAX_LINE_BYTES

DELIMITERS: dict[str, str] = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What is tried on a header line, and how it is called."""

_LIMIT = threading.Lock()
"""Held while the process's limit of a cell is ours."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DIRECTIVE = re.compile(r"^\ufeff?sep=(.)\r?\n?$")
_QUOTES = re.compile('"+')
_BEHIND = "goes on behind its closing quote (a quote inside a quoted field is written twice)"


@dataclass(frozen=True, slots=True)
class RawRow:
    """The cells of one row, or what keeps it from being read; `lines` are those it stands on."""

    number: int
    lines: tuple[str, ...]
    cells: tuple[str, ...]
    problem: str = ""

    @property
    def blank(self) -> bool:
        """True for a row without a character in any cell."""
        return not self.problem and not any(cell.strip() for cell in self.cells)


def directive(data: bytes) -> str | None:
    """The delimiter that a spreadsheet's first line `sep=;` states."""
    first = data[:16].decode("utf-8", "ignore").splitlines(keepends=True)
    found = _DIRECTIVE.match(first[0]) if first else None
    return found[1] if found else None


def raw_rows(data: bytes, delimiter: str) -> Iterator[RawRow]:
    """Every row of UTF-8 `data` in its order, the header among them, blank ones left out.

    Bytes that are no UTF-8 come as lone surrogates. A line `sep=;` at the top is no row.
    """
    lines = _Lines(data)
    if directive(data):
        next(lines)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = lines.read + 1
        lines.taken.clear()
        try:
            cells = _next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = _problem(str(error), number, lines.read)
            yield RawRow(number, tuple(lines.taken), (), problem)
            continue
        row = RawRow(number, tuple(lines.taken), tuple(cells))
        if not row.blank:
            yield row


class _Lines:
    """Lines of text, given out one by one; `taken` are those of the row under way."""

    def __init__(self, data: bytes) -> None:
        stream = io.BytesIO(data)
        stream.seek(len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0)
        self._stream = io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline="")
        self.taken: list[str] = []
        self.read = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._stream)
        self.read += 1
        self.taken.append(line)
        return line


def _next(reader: Iterator[list[str]]) -> list[str]:
    # A transcript may exceed the module's 128 KiB a cell; its limit is one of the process, so that
    # of two threads one would put back what the other still needs.
    with _LIMIT:
        limit = csv.field_size_limit(MAX_LINE_BYTES)
        try:
            return next(reader)
        finally:
            csv.field_size_limit(limit)


def _problem(error: str, first: int, last: int) -> str:
    until = f", in line {last}" if last > first else ""
    if "expected after" in error:
        return f"not CSV: a quoted field {_BEHIND}{until}"
    if "unexpected end" in error:
        return "not CSV: unexpected end of data, a quote that opens here is never closed"
    if "field limit" in error:
        return f"not CSV: a field has more than {MAX_LINE_BYTES >> 20} MiB; is a quote not closed?"
    return f"not CSV: {error}"


@dataclass
class Likeness:
    """Whether a text could be an id of a column, after the ids that stand in it.

    Ids are alike that differ in numbers only. Where most differ in their letters too (names,
    hashes), those are that have the same separators, digits or none, and about their length. Behind
    a comma of prose stands a space, which an id has only where others have one.
    """

    ids: int = 0
    forms: set[str] = field(default_factory=set)
    shapes: set[str] = field(default_factory=set)
    shortest: int = 0
    longest: int = 0
    spaced: bool = False

    def see(self, value: str) -> None:
        """Note the id of one row."""
        text = same_id(value)
        if not text:
            return
        self.shortest = min(self.shortest or len(text), len(text))
        self.longest = max(self.longest, len(text))
        self.ids += 1
        self.spaced |= value[:1].isspace()
        self.forms.add(_form(text))
        self.shapes.add(_shape(text))

    def like(self, value: str) -> bool:
        """True where `value` could stand among them."""
        text = same_id(value)
        if not text or (value[:1].isspace() and not self.spaced):
            return False
        if _form(text) in self.forms:
            return True
        various = 2 * len(self.forms) > self.ids
        fits = self.shortest <= 2 * len(text) and len(text) <= 2 * self.longest
        return various and fits and _shape(text) in self.shapes


def _form(text: str) -> str:
    return re.sub(r"\d+", "0", text)


def _shape(text: str) -> str:
    if re.search(r"\d", text):
        return "0" + re.sub(r"[^\W_]+", "w", text)
    return re.sub(r"[^\W_]+", lambda word: "W" if word[0][0].isupper() else "w", text)


@dataclass(frozen=True, slots=True)
class Inside:
    """A line of a row over several lines that has the cells of a whole row.

    `within`: an id of it stands inside a quoted field. Ids behind the end of a field may be the
    row's own: then the line tells only if the field began as a row too.
    """

    row: int
    line: int
    ids: tuple[str, ...]
    within: bool


def rows_inside(row: RawRow, width: int, ids: Sequence[int], delimiter: str) -> list[Inside]:
    """The lines of `row` that read alone have `width` cells; `ids` are the places of ids."""
    found = []
    for offset, line in enumerate(row.lines):
        text = line.rstrip("\r\n")
        end = next((run.start() for run in _QUOTES.finditer(text) if len(run[0]) % 2), len(text))
        cells_inside = text[:end].count(delimiter) + (end == len(text))
        within = offset > 0 and min(ids) < cells_inside
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
            cells = next(csv.reader([text], delimiter=delimiter, quoting=quoting), [])
            if len(cells) == width:
                names = tuple(cells[index].strip('"') for index in ids)
                found.append(Inside(row.number, row.number + offset, names, within))
                break
    return found


def swallowed(lines: Sequence[Inside], known: Sequence[Likeness]) -> Inside | None:
    """The first of one row's `lines` that is a row of its own; `known` are the ids of others."""
    began = False
    for one in lines:
        if not all(a.like(value) for a, value in zip(known, one.ids, strict=True)):
            continue
        if one.within or (began and one.line > one.row):
            return one
        began = True
    return None
