"""A little drawing: scales, axes and marks as escaped SVG. Colours come from the style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10

from markupsafe import Markup

from heldout.experiments.report.words import Table, number

Point = tuple[float, float]


@dataclass(frozen=True)
class PlotArea:
    """A drawing area with linear scales from data to pixels; y grows upwards in data.

    `x` and `y` are (low, high) in data; margins are pixels at left, top, right and bottom.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    width: int = 720
    height: int = 300
    margins: tuple[int, int, int, int] = (64, 18, 22, 46)
    left: float = 0.0

    def px(self, x: float) -> float:
        """Pixel of a data x."""
        low, high = self.x
        room = self.width - self.margins[0] - self.margins[2]
        return round(self.left + self.margins[0] + room * (x - low) / ((high - low) or 1), 2)

    def py(self, y: float) -> float:
        """Pixel of a data y."""
        low, high = self.y
        room = self.height - self.margins[1] - self.margins[3]
        return round(self.height - self.margins[3] - room * (y - low) / ((high - low) or 1), 2)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the area, in pixels."""
        return self.px(self.x[0]), self.py(self.y[1]), self.px(self.x[1]), self.py(self.y[0])


@dataclass
class Drawing:
    """Marks in order of drawing."""

    width: int
    height: int
    parts: list[Markup] = field(default_factory=list)

    def add(self, markup: str, *values: object) -> None:
        """Append `markup` with `values` escaped into its `{}`."""
        self.parts.append(Markup(markup).format(*values))

    def line(self, a: Point, b: Point, style: str) -> None:
        """A straight line between two pixels."""
        text = '<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>'
        self.add(text, a[0], a[1], b[0], b[1], style)

    def path(self, points: Iterable[Point], style: str) -> None:
        """A polyline through pixels."""
        self.add(
            '<polyline points="{}" class="{}"/>', " ".join(f"{x},{y}" for x, y in points), style
        )

    def dot(self, at: Point, style: str, radius: float = 4, label: str = "") -> None:
        """A circle, with `label` as its tooltip."""
        text = '<circle cx="{}" cy="{}" r="{}" class="{}"><title>{}</title></circle>'
        self.add(text, at[0], at[1], radius, style, label)

    def rect(self, at: Point, size: Point, style: str, label: str = "") -> None:
        """A rectangle by its top left corner."""
        text = '<rect x="{}" y="{}" width="{}" height="{}" class="{}"><title>{}</title></rect>'
        size = (round(max(size[0], 0.0), 2), round(max(size[1], 0.0), 2))
        self.add(text, round(at[0], 2), round(at[1], 2), *size, style, label)

    def text(self, at: Point, words: str, anchor: str = "start", style: str = "") -> None:
        """Words at a pixel; `anchor` is start, middle or end."""
        text = '<text x="{}" y="{}" text-anchor="{}" class="{}">{}</text>'
        self.add(text, round(at[0], 2), round(at[1], 2), anchor, style, words)

    def svg(self, title: str) -> Markup:
        """The whole drawing; `title` is what a screen reader says."""
        head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
            self.width, self.height, title
        )
        return head + Markup("").join(self.parts) + Markup("</svg>")


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing with what it shows in words and in figures."""

    title: str
    caption: str
    svg: Markup
    table: Table


def axes(
    drawing: Drawing,
    area: PlotArea,
    x_name: str,
    y_name: str,
    *,
    decimals: tuple[int, int] = (1, 1),
) -> None:
    """Axes with ticks, grid and names."""
    left, top, right, bottom = area.box
    for tick in ticks(area.x):
        drawing.line((area.px(tick), top), (area.px(tick), bottom), "grid")
        drawing.text((area.px(tick), bottom + 16), number(tick, decimals[0]), "middle", "soft")
    for tick in ticks(area.y):
        drawing.line((left, area.py(tick)), (right, area.py(tick)), "grid")
        drawing.text((left - 8, area.py(tick) + 4), number(tick, decimals[1]), "end", "soft")
    drawing.path([(left, top), (left, bottom), (right, bottom)], "axis")
    drawing.text(((left + right) / 2, bottom + 36), x_name, "middle", "soft")
    drawing.text((left, top - 6), y_name, "start", "soft")


def x_axis(drawing: Drawing, area: PlotArea, name: str, decimals: int = 1) -> None:
    """A horizontal axis only, for figures whose rows are names."""
    left, top, right, bottom = area.box
    for tick in ticks(area.x):
        drawing.line((area.px(tick), top), (area.px(tick), bottom), "grid")
        drawing.text((area.px(tick), bottom + 16), number(tick, decimals), "middle", "soft")
    drawing.line((left, bottom), (right, bottom), "axis")
    drawing.text(((left + right) / 2, bottom + 36), name, "middle", "soft")


def ticks(span: tuple[float, float], wanted: int = 6) -> list[float]:
    """Round values inside `span`, about `wanted` of them."""
    low, high = span
    if high <= low:
        return [low]
    rough = (high - low) / wanted
    unit = 10 ** floor(log10(rough))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]


def span_of(
    values: Sequence[float], *, pad: float = 0.05, least: float = 0.1
) -> tuple[float, float]:
    """A domain around `values`, at least `least` wide; (0, 1) without values."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    room = max((high - low) * pad, (least - (high - low)) / 2, 0.0)
    return low - room, high + room


def interval_bar(drawing: Drawing, area: PlotArea, row: float, ends: Point, style: str) -> None:
    """A horizontal interval with caps at pixel height `row`."""
    low, high = area.px(ends[0]), area.px(ends[1])
    drawing.line((low, row), (high, row), f"{style} line")
    for end in (low, high):
        drawing.line((end, row - 4), (end, row + 4), f"{style} line")
