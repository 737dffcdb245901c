"""Options of every command that reads tables, and what they say together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from heldout.splits.loading.columns import TableOptions

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="NAME=COLUMN",
        help='What a table calls a column, as note="Clinical Note"; repeatable.',
    ),
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="Of a table: one character, or tab. Else found.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Of tables and transcripts. Else found.")
]
Multiline = Annotated[
    bool,
    typer.Option("--multiline", help="Take cells over several lines whatever their lines hold."),
]


def table_options(
    columns: list[str] | None, delimiter: str | None, encoding: str | None, multiline: bool
) -> TableOptions:
    """What a person says about a table. Raises BadInput for columns that are not NAME=COLUMN."""
    from heldout.splits.loading.columns import TableOptions, columns_asked  # noqa: PLC0415

    return TableOptions(columns_asked(columns or []), delimiter, encoding, multiline)
