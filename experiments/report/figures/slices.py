"""Paired discrimination by trace level, severity and class: descriptive, never a test."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.experiments.report.figures.svg import Drawing, Frame, interval_bar, x_axis
from heldout.experiments.report.sides import ComparedBlock, ComparedBlocks
from heldout.experiments.report.tables import Figure, Table
from heldout.experiments.report.words import DASH, interval_text
from heldout.gepa.statistics.slices import MIN_CONSULTATIONS, MIN_PAIRS, Axis, Slice, slices
from heldout.gepa.statistics.table import ScoreTable

AXES: tuple[tuple[Axis, str], ...] = (
    ("trace", "trace level"),
    ("severity", "severity"),
    ("class", "class"),
    ("stratum", "stratum"),
    ("source", "source"),
)
DRAWN = 3
"""So many axes are drawn; all of them stand in the table."""
ROW = 34

Sliced = list[tuple[str, str, list[Slice]]]


def slice_figure(sides: ComparedBlocks) -> Figure | None:
    """Slices on held-out; None where nothing was judged there."""
    measured = sides.measured
    if not measured:
        return None
    found = _all(measured, sides.level)
    drawn = [row for row in found if row[0] in [name for _, name in AXES[:DRAWN]]]
    height = 72 + ROW * len(drawn)
    frame = Frame((0, 1), (0, 1), height=height, margins=(210, 20, 22, 46))
    drawing = Drawing(frame.width, height)
    x_axis(drawing, frame, "paired discrimination, 0.5 is chance")
    drawing.line((frame.px(0.5), frame.box[1]), (frame.px(0.5), frame.box[3]), "chance")
    for index, (axis, key, each) in enumerate(drawn):
        y = 36 + ROW * index
        drawing.text((12, y + 4), f"{axis}: {key}")
        for offset, (side, part) in enumerate(zip(measured, each, strict=True)):
            _mark(drawing, frame, y - 7 + 14 * offset, side, part)
    return Figure(
        "By trace level, severity and class",
        "Descriptive: no slice is a test. A slice with fewer than "
        f"{MIN_PAIRS} pairs or {MIN_CONSULTATIONS} consultations shows counts only.",
        drawing.svg("Paired discrimination on held-out by slice"),
        _table(measured, found),
    )


def _all(sides: Sequence[ComparedBlock], level: float) -> Sliced:
    """Every slice, in the same order for every side, of the first replicate."""
    rows: Sliced = []
    for axis, name in AXES:
        each = [slices(_first(side), axis, level=level) for side in sides]
        rows += [(name, key, [parts[key] for parts in each]) for key in each[0]]
    return rows


def _first(side: ComparedBlock) -> ScoreTable:
    assert side.heldout is not None
    return side.heldout.tables[0]


def _mark(drawing: Drawing, frame: Frame, y: float, side: ComparedBlock, part: Slice) -> None:
    if part.interval is None:
        drawing.text((frame.box[0] + 6, y + 4), f"{part.n} pairs: counts only", style="soft")
        return
    interval_bar(drawing, frame, y, (part.interval.low, part.interval.high), side.role)
    label = f"{side.name}: {interval_text(part.interval)}, {part.n} pairs"
    drawing.dot((frame.px(part.interval.estimate), y), side.role, 4.5, label)


def _table(sides: Sequence[ComparedBlock], found: Sliced) -> Table:
    columns = ["slice", "value"]
    for side in sides:
        columns += [side.name, "wins / ties / losses", "unanswered"]
    rows = []
    for axis, key, each in found:
        cells: list[object] = [axis, key]
        for part in each:
            shown = interval_text(part.interval) if part.interval else DASH
            cells += [shown, f"{part.wins} / {part.ties} / {part.losses}", part.violations]
        rows.append(cells)
    return Table.of(columns, rows)
