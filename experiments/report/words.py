"""Figures as a person reads them. A missing figure is a dash, never a zero."""

from __future__ import annotations

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
    return f"{form(interval.estimate)} [{form(interval.low)}, {form(interval.high)}]"


def thousands(value: float | None) -> str:
    """A whole number with thin spaces between thousands."""
    return DASH if value is None else f"{value:,.0f}".replace(",", "\u202f")
