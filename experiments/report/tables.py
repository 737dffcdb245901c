"""Tables and figures as values: one source for the page and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from heldout.experiments.report.text import markdown


@dataclass(frozen=True, slots=True)
class Table:
    """Names of columns and rows of cells as text; the first column names the row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
        """Rows of anything that prints."""
        return cls(tuple(columns), tuple(tuple(str(cell) for cell in row) for row in rows))

    @property
    def as_markdown(self) -> str:
        """A Markdown table with every cell escaped."""
        lines = [self.columns, tuple("---" for _ in self.columns), *self.rows]
        rule = 1
        return "\n".join(
            f"| {' | '.join(cell if row == rule else markdown(cell) for cell in line)} |"
            for row, line in enumerate(lines)
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with what it shows in words and in figures."""

    title: str
    caption: str
    svg: Markup
    table: Table
