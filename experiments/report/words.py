"""Figures and tables as a person reads them. A missing figure is a dash, never a zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heldout.experiments.report.text import markdown
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.rates.counts import Count

DASH = "–"
MINUS = "−"


def number(value: float | None, decimals: int = 3) -> str:
    """`value` with a fixed number of decimals."""
    return DASH if value is None else f"{value:.{decimals}f}".replace("-", MINUS)


def signed(value: float | None, decimals: int = 3) -> str:
    """`value` with its sign."""
    return DASH if value is None else f"{value:+.{decimals}f}".replace("-", MINUS)


def percent(count: Count | None) -> str:
    """A count as share and count."""
    if count is None or not count.n:
        return DASH if count is None else "0 of 0"
    return f"{100 * count.k / count.n:.1f}% ({count.k} of {count.n})"


def interval_text(interval: Interval | None, sign: bool = False) -> str:
    """An interval as estimate and bounds."""
    if interval is None:
        return DASH
    form = signed if sign else number
    if not interval.known:
        return f"{form(interval.estimate)} (one consultation)"
    return f"{form(interval.estimate)} [{form(interval.low)}, {form(interval.high)}]"


def thousands(value: float | None) -> str:
    """A whole number with thin spaces between thousands."""
    return DASH if value is None else f"{value:,.0f}".replace(",", "\u202f")


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
        lines = [[markdown(cell) for cell in row] for row in (self.columns, *self.rows)]
        lines.insert(1, ["---"] * len(self.columns))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
