"""CSV files of public releases: named columns, rows as records, names spelled loosely."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.json_records import Record
from heldout.splits.loading.text_files import (
    MAX_LINE_BYTES,
    Faults,
    read_input,
    suggestion,
    whole_text,
)


def read_sheet(path: Path, needed: Sequence[str]) -> list[Record]:
    """One record a row with text values; columns as `plain_name` gives them, empty cells kept.

    Raises BadInput where a column of `needed` is missing or a row does not fit the header.
    """
    text = whole_text(read_input(path))
    reader = csv.reader(io.StringIO(text, newline=""))
    # A dialogue may exceed the module's 128 KiB a cell; its limit is one of the process.
    limit = csv.field_size_limit(MAX_LINE_BYTES)
    try:
        header = [plain_name(name) for name in next(reader, [])]
        check_columns(f"{path}:1", header, needed)
        return _rows(path, reader, header)
    except csv.Error as error:
        raise BadInput.one(f"{path}:{reader.line_num}", f"not CSV: {error}") from None
    finally:
        csv.field_size_limit(limit)


def plain_name(name: str) -> str:
    """A column's name in lower case with underscores: `Text ID` is `text_id`."""
    return "_".join(name.strip().lower().replace("_", " ").split())


def check_columns(where: str, header: Sequence[str], needed: Sequence[str]) -> None:
    """Raise BadInput for every column of `needed` that is not in `header`."""
    missing = [
        Fault(where, f"column «{name}» is missing{suggestion(name, header)}")
        for name in needed
        if name not in header
    ]
    if missing:
        raise BadInput(missing)


def _rows(path: Path, reader: csv._reader, header: Sequence[str]) -> list[Record]:  # type: ignore[name-defined]
    faults, rows = Faults(), []
    line = reader.line_num + 1
    for cells in reader:
        where, line = f"{path}:{line}", reader.line_num + 1
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            faults.add(where, f"{len(cells)} cells under {len(header)} columns")
            continue
        rows.append(Record(where, dict(zip(header, cells, strict=True))))
    faults.raise_any()
    return rows
