"""Tables as rows by column: CSV and its dialects, workbooks, parquet, JSON Lines. The one reader.

The form of a file is checked whole before its first row is given out: a table whose quoting,
encoding or header is wrong is refused with every fault and its line, and no row is read from it.
What is wrong with one row alone (cells too few, a line that is no JSON) comes in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from heldout.splits.counted import counted
from heldout.splits.errors import BadInput
from heldout.splits.loading.columns import TableOptions, Wanted, named, plain_name
from heldout.splits.loading.csv_rows import (
    DELIMITERS,
    Inside,
    Likeness,
    RawRow,
    directive,
    raw_rows,
    rows_inside,
    swallowed,
)
from heldout.splits.loading.encodings import SAY_WHICH, as_utf8
from heldout.splits.loading.records import BadRow, Record, json_rows
from heldout.splits.loading.sheets import parquet_rows, workbook_rows
from heldout.splits.loading.text_files import Faults, InputFile

DELIMITED = (".csv", ".tsv")
JSON_LINES = (".jsonl", ".ndjson")
SUFFIXES = (*DELIMITED, ".xlsx", ".parquet", *JSON_LINES)

_SURROGATE = re.compile("[\ud800-\udfff]")
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive (a workbook's name ends in .xlsx)"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file; save it as .xlsx or .csv"),
    (b"PAR1", "a parquet file; its name must end in .parquet"),
    (b"%PDF-", "a PDF"),
    (b"{\\rtf", "an RTF document"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "an XML document"),
)


@dataclass(frozen=True)
class OpenTable:
    """The rows of a table, to be read as often as wanted; `notices` say how its text was read.

    `cells` is True where values are cells of text, of which a blank one is an absent value.
    """

    notices: tuple[str, ...]
    rows: Callable[[], Iterator[Record | BadRow]]
    cells: bool = True

    def records(self, faults: Faults) -> list[Record]:
        """Every row that can be read, without blank cells; what is wrong with others is noted."""
        found = []
        for row in self.rows():
            if isinstance(row, BadRow):
                for problem in row.problems:
                    faults.add(row.where, problem)
                continue
            damaged = [name for name, cell in row.value.items() if self.cells and _damaged(cell)]
            for name in damaged:
                faults.add(row.where, f"{name}: is not UTF-8; {SAY_WHICH}")
            if self.cells and not damaged:
                given = {name: cell for name, cell in row.value.items() if cell.strip()}
                found.append(Record(row.where, given))
            elif not damaged:
                found.append(row)
        return found


def _damaged(cell: str) -> bool:
    """True where bytes of the file were no UTF-8; they stand as lone surrogates."""
    return not cell.isascii() and _SURROGATE.search(cell) is not None


def open_table(file: InputFile, wanted: Wanted, options: TableOptions) -> OpenTable:
    """The table in `file`, its form checked. Raises BadInput with every fault of it."""
    if file.kind in JSON_LINES:
        return _json_lines(file, wanted, options)
    if file.kind in DELIMITED:
        return _delimited(file, wanted, options)
    if file.kind in (".xlsx", ".parquet"):
        header, *rows = (workbook_rows if file.kind == ".xlsx" else parquet_rows)(file)
        names = named(header.cells, wanted, options.columns, f"{file.path}:{header.number}")
        return _counted(file, OpenTable((), lambda: _behind(file, header, iter(rows), names)))
    raise BadInput.one(str(file.path), f"its name must end in one of {', '.join(SUFFIXES)}")


def _delimited(file: InputFile, wanted: Wanted, options: TableOptions) -> OpenTable:
    start = file.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for signature, what in _SIGNATURES:
        if start.startswith(signature.lower()):
            raise BadInput.one(str(file.path), f"is {what}, no text with rows")
    text = as_utf8(file, options.encoding)
    delimiter = _delimiter(text, wanted, options)
    header = next(raw_rows(text.data, delimiter), RawRow(1, (), (), "holds no text"))
    where = f"{file.path}:{header.number}"
    if header.problem:
        raise BadInput.one(where, header.problem)
    names = named(header.cells, wanted, options.columns, where)
    _check_rows(text, names, wanted, delimiter, multiline=options.multiline)

    def rows() -> Iterator[Record | BadRow]:
        every = raw_rows(text.data, delimiter)
        return _behind(file, next(every), every, names)

    return _counted(file, OpenTable(_said(text, delimiter), rows))


def _delimiter(text: InputFile, wanted: Wanted, options: TableOptions) -> str:
    """The delimiter asked for, or the one that makes the columns of the header which are needed."""
    if options.delimiter is not None:
        asked = {"tab": "\t", "\\t": "\t"}.get(options.delimiter, options.delimiter)
        if len(asked) != 1 or asked in '"\r\n':
            raise BadInput.one("--delimiter", f"{options.delimiter!r} is not one character")
        return asked
    if stated := directive(text.data):
        return stated
    best, most = ("\t" if text.kind == ".tsv" else ","), 1
    for delimiter in (best, *DELIMITERS):
        header = next(raw_rows(text.data, delimiter), None)
        if header is None or header.problem:
            continue
        if _fits(header.cells, wanted, options):
            return delimiter
        if len(header.cells) > most:
            best, most = delimiter, len(header.cells)
    return best


def _fits(cells: Sequence[str], wanted: Wanted, options: TableOptions) -> bool:
    try:
        named(list(dict.fromkeys(cells)), wanted, options.columns, "")
    except BadInput:
        return False
    return True


def _check_rows(
    text: InputFile, names: Sequence[str], wanted: Wanted, delimiter: str, *, multiline: bool
) -> None:
    """Raise BadInput for every row that is quoted wrongly, or may hold another row."""
    faults = Faults()
    places = [index for index, name in enumerate(names) if name in wanted.ids]
    known, several = [Likeness() for _ in places], list[list[Inside]]()
    rows = raw_rows(text.data, delimiter)
    next(rows, None)
    for row in rows:
        where = f"{text.path}:{row.number}"
        if row.problem:
            faults.add(where, row.problem)
        elif len(row.cells) == len(names):
            for likeness, index in zip(known, places, strict=True):
                likeness.see(row.cells[index])
            if len(row.lines) > 1 and places and not multiline:
                inside = rows_inside(row, len(names), places, delimiter)
                several += [inside] if len(inside) > 1 or any(i.within for i in inside) else []
        elif len(row.lines) > 1:
            counts = _counts(row, names)
            faults.add(where, f"{counts}, on {len(row.lines)} lines: is a quote not closed?")
    for lines in several:
        if (found := swallowed(lines, known)) is not None:
            ids = ", ".join(f"«{value.strip()}»" for value in found.ids)
            faults.add(
                f"{text.path}:{found.row}",
                f"a quoted field holds what reads as a row of its own, in line {found.line} "
                f"(id {ids}): is a quote not closed? --multiline takes the field as it is",
            )
    faults.raise_any()


def _said(text: InputFile, delimiter: str) -> tuple[str, ...]:
    if text.encoding == "utf-8" and delimiter == ",":
        return ()
    split = DELIMITERS.get(delimiter, f"fields split at «{delimiter}»")
    split = "" if text.kind in JSON_LINES else f" with {split}"
    return (f"{text.path.name}: read as {text.encoding.upper()}{split}",)


def _behind(
    file: InputFile, header: RawRow, rows: Iterator[RawRow], names: Sequence[str]
) -> Iterator[Record | BadRow]:
    """The `rows` behind the header by column."""
    for row in rows:
        where = f"{file.path}:{row.number}"
        if row.problem:
            yield BadRow(where, (row.problem,))
        elif len(row.cells) != len(names):
            yield BadRow(where, (_counts(row, names),))
        elif _plain(row.cells) == _plain(header.cells):
            yield BadRow(where, ("is the header again: are these two files in one?",))
        else:
            cells = zip(names, row.cells, strict=True)
            yield Record(where, {name: cell for name, cell in cells if name})


def _counts(row: RawRow, names: Sequence[str]) -> str:
    return f"{counted(len(row.cells), 'cell')} under {counted(len(names), 'column')}"


def _plain(cells: Sequence[str]) -> list[str]:
    return [cell.strip('" \ufeff\t') for cell in cells]


def _json_lines(file: InputFile, wanted: Wanted, options: TableOptions) -> OpenTable:
    text = file if options.encoding is None else as_utf8(file, options.encoding)
    names: dict[str, str] = {}
    for row in json_rows(text):
        for name in row.value if isinstance(row, Record) else ():
            names.setdefault(plain_name(name), name)
    if names:
        named(list(names.values()), wanted, options.columns, f"{file.path}:1")

    def rows() -> Iterator[Record | BadRow]:
        seen: dict[tuple[str, ...], list[str] | BadInput] = {}
        for row in json_rows(text):
            yield _renamed(row, wanted, options, seen) if isinstance(row, Record) else row

    return _counted(file, OpenTable(_said(text, ","), rows, cells=False))


def _renamed(
    record: Record,
    wanted: Wanted,
    options: TableOptions,
    seen: dict[tuple[str, ...], list[str] | BadInput],
) -> Record | BadRow:
    """`record` under the names that are read; `seen` holds what was found of the same keys."""
    own = tuple(record.value)
    if own not in seen:
        columns = {name: column for name, column in options.columns.items() if column in own}
        try:
            seen[own] = named(own, wanted, columns, record.where, needed=())
        except BadInput as error:
            seen[own] = error
    names = seen[own]
    if isinstance(names, BadInput):
        return BadRow(record.where, tuple(fault.message for fault in names.faults))
    return Record(record.where, {n: record.value[o] for n, o in zip(names, own, strict=True) if n})


def _counted(file: InputFile, table: OpenTable) -> OpenTable:
    """`table`, if it has a row. Raises BadInput."""
    if next(iter(table.rows()), None) is None:
        raise BadInput.one(str(file.path), "the table has a header and no row")
    return table
