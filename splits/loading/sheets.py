"""Workbooks (.xlsx) and parquet as rows of text: a number is its text, a date its ISO form."""

from __future__ import annotations

import io
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from xml.etree.ElementTree import ParseError

from heldout.splits.errors import BadInput
from heldout.splits.loading.csv_rows import RawRow
from heldout.splits.loading.ids import number_text
from heldout.splits.loading.text_files import MAX_BYTES, InputFile

_CODED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""How a workbook writes characters that XML does not take."""
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
_NO_WORKBOOK = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What openpyxl raises for archives that are no workbook, or a damaged one."""


def workbook_rows(file: InputFile) -> list[RawRow]:
    """The rows of the one visible sheet with content, the header first; numbers are the sheet's.

    Raises BadInput where the file is no workbook, and where not one sheet has content.
    """
    from openpyxl import load_workbook  # noqa: PLC0415  # a tenth of a second

    where = str(file.path)
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as packed:
            size = sum(member.file_size for member in packed.infolist())
        if size > MAX_BYTES:
            raise BadInput.one(where, f"holds more than {MAX_BYTES >> 20} MiB")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that mean nothing here
            book = load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)
            visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            sheets = {sheet.title: _sheet_rows(sheet) for sheet in visible}
    except _NO_WORKBOOK as error:
        raise BadInput.one(where, f"is no Excel workbook (.xlsx): {error}") from None
    full = {title: rows for title, rows in sheets.items() if rows}
    if len(full) != 1:
        names = ", ".join(f"«{title}»" for title in full) or "none"
        raise BadInput.one(where, f"must have one sheet with content; found: {names}")
    return next(iter(full.values()))


def _sheet_rows(sheet: Any) -> list[RawRow]:
    # The size that a workbook states of its sheets is often wrong; rows end where they are empty.
    sheet.reset_dimensions()
    rows: list[RawRow] = []
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        given = list(values)
        while given and given[-1] is None:
            given.pop()
        width = len(rows[0].cells) if rows else 0
        row = _row(number, given + [None] * (width - len(given)))
        if not row.blank:
            rows.append(row)
    return rows


def parquet_rows(file: InputFile) -> list[RawRow]:
    """The rows of a parquet file behind its column names, which stand as row 0.

    Raises BadInput where the file is none.
    """
    from pyarrow import ArrowException, BufferReader, parquet  # noqa: PLC0415  # comes with MLflow

    try:
        table = parquet.ParquetFile(BufferReader(file.data)).read()
        columns = [column.to_pylist() for column in table.columns]
    except (ArrowException, ArithmeticError, OSError, ValueError) as error:
        # ArithmeticError: a date beyond the year 9999.
        reason = str(error).partition("\n")[0]
        raise BadInput.one(str(file.path), f"is no parquet file: {reason}") from None
    rows = (_row(number, values) for number, values in enumerate(zip(*columns, strict=True), 1))
    return [RawRow(0, (), tuple(table.column_names)), *(row for row in rows if not row.blank)]


def _row(number: int, values: Sequence[Any]) -> RawRow:
    try:
        return RawRow(number, (), tuple(map(_cell, values)))
    except ValueError as error:
        return RawRow(number, (), (), str(error))


def _cell(value: Any) -> str:
    """A cell's text. Raises ValueError for a list, an object, or bytes that are no text."""
    match value:
        case None:
            text = ""
        case str() if value in _ERRORS:
            raise ValueError(f"a cell holds the spreadsheet's error {value}")
        case str():
            text = _CODED.sub(lambda found: chr(int(found[1], 16)), value)
        case bool():
            text = str(value).lower()
        case float() if math.isnan(value):  # how a data frame says that there is none
            text = ""
        case int() | float():
            text = number_text(value)
        case Decimal():
            text = format(value, "f")
        case datetime() if value.time() == time() and value.tzinfo is None:
            text = value.date().isoformat()  # how a workbook keeps a date without a time
        case datetime() | date() | time():
            text = value.isoformat()
        case bytes():
            text = value.decode("utf-8")
        case _:
            raise ValueError(f"a cell holds a {type(value).__name__}, text is needed")
    return text
