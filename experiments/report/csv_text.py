"""Tables for a spreadsheet: no cell runs, none acts on a terminal.

For tables that are written for people. What Heldout reads again (an imported benchmark) is data
and stays letter for letter.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from heldout.splits.visible import visible

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for the start of a formula."""


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows, the header among them, as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def cell(value: Any) -> str:
    """A value as a cell: a text that looks like a formula, and is no number, gets a leading quote.

    None is empty, a truth is `true` or `false`.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return f"{value:g}" if isinstance(value, float) else str(value)
    text = visible(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
