"""Paired discrimination: accept against held-out, and held-out by slice."""

from __future__ import annotations

from collections.abc import Mapping

from heldout.experiments.report.compared import ComparedBlock, ComparedBlocks, paired_over
from heldout.experiments.report.figures.svg import (
    Chart,
    Drawing,
    PlotArea,
    interval_bar,
    span_of,
    x_axis,
)
from heldout.experiments.report.words import Table, interval_text, signed
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.slices import (
    MIN_CONSULTATIONS,
    MIN_PAIRS,
    Axis,
    Slice,
    distinct,
    slices,
)
from heldout.splits.counted import counted

CHANCE = 0.5
BLOCK_HEIGHT, SLICE_HEIGHT = 64, 34
"""Pixels of a row."""
AXES: Mapping[Axis, str] = {
    "trace": "trace level",
    "severity": "severity",
    "class": "class",
    "stratum": "stratum",
    "source": "source",
}
DRAWN = ("trace level", "severity", "class")
"""These axes are drawn; all of them stand in the table."""

Compared = tuple[ComparedBlock, Interval | None, Interval | None]
"""A block with its figure on accept and on held-out."""
Sliced = tuple[str, str, list[Slice]]
"""Name of an axis, value on it, and the slice of every block."""


def agreement(blocks: ComparedBlocks) -> Chart:
    """What the search saw beside what it did not: the primary figure on both splits."""
    rows: list[Compared] = [
        (
            block,
            paired_over((block.accept,), blocks.primary, blocks.level),
            None
            if block.heldout is None
            else paired_over(block.heldout.tables, blocks.primary, blocks.level),
        )
        for block in blocks.all
    ]
    ends = [end for _, *found in rows for i in found if i for end in (i.low, i.high)]
    height = 60 + BLOCK_HEIGHT * len(rows)
    area = PlotArea(span_of([CHANCE, *ends]), (0, 1), height=height, margins=(120, 22, 90, 46))
    drawing = Drawing(area.width, height)
    _axis_and_chance(drawing, area, f"paired {blocks.primary}s, 0.5 is chance")
    for index, (block, accept, heldout) in enumerate(rows):
        y = 44 + BLOCK_HEIGHT * index
        drawing.text((12, y + 4), block.name)
        _mark(drawing, area, y - 11, accept, f"{block.role} hollow", "accept")
        _mark(drawing, area, y + 11, heldout, block.role, "held-out")
    percent = f"{100 * blocks.level:.4g}%"
    return Chart(
        "Accept against held-out",
        f"Hollow: accept, which the search chose on. Filled: held-out, which it never saw. "
        f"Bars are {percent} Wilson intervals with consultations as the unit.",
        drawing.svg(f"paired {blocks.primary}s on accept and on held-out"),
        _table(rows),
    )


def _axis_and_chance(drawing: Drawing, area: PlotArea, name: str) -> None:
    x_axis(drawing, area, name)
    chance = area.px(CHANCE)
    drawing.line((chance, area.box[1]), (chance, area.box[3]), "chance")


def _mark(
    drawing: Drawing, area: PlotArea, y: float, interval: Interval | None, style: str, split: str
) -> None:
    if interval is None:
        return
    role = style.split(maxsplit=1)[0]
    interval_bar(drawing, area, y, (interval.low, interval.high), role)
    drawing.dot((area.px(interval.estimate), y), style, 5, f"{split} {interval_text(interval)}")
    drawing.text((area.px(interval.high) + 8, y + 4), split, "start", "soft")


def _table(rows: list[Compared]) -> Table:
    cells = []
    for block, accept, heldout in rows:
        optimism = accept.estimate - heldout.estimate if accept and heldout else None
        texts = [interval_text(accept), interval_text(heldout), signed(optimism)]
        cells.append([block.name, *texts])
    return Table.of(["", "accept", "held-out", "accept minus held-out"], cells)


def slice_figure(blocks: ComparedBlocks) -> Chart | None:
    """Slices on held-out, never a test; None where nothing was judged there."""
    measured = blocks.measured
    if not measured:
        return None
    found = _all_slices(blocks)
    drawn = [row for row in found if row[0] in DRAWN]
    height = 72 + SLICE_HEIGHT * len(drawn)
    area = PlotArea((0, 1), (0, 1), height=height, margins=(210, 20, 22, 46))
    drawing = Drawing(area.width, height)
    _axis_and_chance(drawing, area, "paired discrimination, 0.5 is chance")
    for index, (axis, key, each) in enumerate(drawn):
        y = 36 + SLICE_HEIGHT * index
        drawing.text((12, y + 4), f"{axis}: {key}")
        for offset, (block, part) in enumerate(zip(measured, each, strict=True)):
            _mark_slice(drawing, area, y - 7 + 14 * offset, block, part)
    return Chart(
        "By trace level, severity and class",
        "Descriptive: no slice is a test. A slice with fewer than "
        f"{MIN_PAIRS} pairs or {MIN_CONSULTATIONS} consultations shows counts only.",
        drawing.svg("Paired discrimination on held-out by slice"),
        _slice_table(blocks, found),
    )


def _all_slices(blocks: ComparedBlocks) -> list[Sliced]:
    """Every slice of the primary pairs, in one order for all blocks, of the first replicate."""
    each = [
        {
            axis: slices(block.on_heldout.tables[0], axis, blocks.primary, level=blocks.level)
            for axis in AXES
        }
        for block in blocks.measured
    ]
    return [
        (AXES[axis], key, [parts[axis][key] for parts in each]) for axis, key in distinct(each[0])
    ]


def _mark_slice(
    drawing: Drawing, area: PlotArea, y: float, block: ComparedBlock, part: Slice
) -> None:
    if part.interval is None:
        drawing.text(
            (area.box[0] + 6, y + 4), f"{counted(part.n, 'pair')}: counts only", style="soft"
        )
        return
    interval_bar(drawing, area, y, (part.interval.low, part.interval.high), block.role)
    label = f"{block.name}: {interval_text(part.interval)}, {counted(part.n, 'pair')}"
    drawing.dot((area.px(part.interval.estimate), y), block.role, 4.5, label)


def _slice_table(blocks: ComparedBlocks, found: list[Sliced]) -> Table:
    columns = ["slice", "value"]
    for block in blocks.measured:
        columns += [block.name, "wins / ties / losses", "unanswered"]
    rows = []
    for axis, key, each in found:
        cells: list[object] = [axis, key]
        for part in each:
            counts = f"{part.wins} / {part.ties} / {part.losses}"
            cells += [interval_text(part.interval), counts, part.violations]
        rows.append(cells)
    return Table.of(columns, rows)
