"""Detection against flags on clean notes: the frozen threshold, the swept one, and its floor."""

from __future__ import annotations

import numpy as np

from heldout.experiments.report.compared import ComparedBlock, ComparedBlocks
from heldout.experiments.report.figures.svg import Chart, Drawing, PlotArea, Point, axes
from heldout.experiments.report.words import DASH, Table, number, percent
from heldout.gepa.statistics.measures import at_fixed_rule
from heldout.gepa.statistics.rates.detection import AtRule, Swept, swept
from heldout.gepa.statistics.table import ScoreTable


def thresholds(blocks: ComparedBlocks, cap: float, flags_name: str) -> Chart | None:
    """Operating points on held-out; None where nothing was judged there."""
    measured = blocks.measured
    if not measured:
        return None
    area = PlotArea((0, 0.5), (0, 1), height=340)
    drawing = Drawing(area.width, area.height)
    axes(drawing, area, f"{flags_name} (share of clean notes)", "detection of omissions")
    right = area.box[2]
    drawing.line((area.px(cap), area.box[1]), (area.px(cap), area.box[3]), "chance")
    drawing.text((area.px(cap) + 4, area.box[1] + 12), f"cap {cap:.0%}", "start", "soft")
    rows = []
    for block in measured:
        table, fixed = block.on_heldout.majority, at_fixed_rule(block.on_heldout)
        best = swept(table, cap)
        drawing.path([_at(area, x, y) for x, y in _curve(table)], f"{block.role} line")
        _draw(drawing, area, block, fixed, best)
        rows.append(_row(block, fixed, best))
    floor = swept(measured[0].on_heldout.majority, cap).floor
    if floor is not None:
        drawing.line((area.box[0], area.py(floor)), (right, area.py(floor)), "chance")
        drawing.text((right, area.py(floor) - 5), f"floor {floor:.3f}", "end", "soft")
    return Chart(
        "Thresholds on held-out",
        "Filled: the threshold frozen on accept before the look, which is what the card carries. "
        "Hollow: the most sensitive threshold within the cap, chosen on the data it is reported "
        "on; a judge without any signal reaches the floor in that way.",
        drawing.svg("Detection against flags on clean notes"),
        Table.of(_COLUMNS, rows),
    )


_COLUMNS = [
    "",
    "frozen threshold",
    "detection there",
    "clean notes flagged there",
    "swept threshold",
    "swept detection",
    "clean notes flagged",
    "floor",
]


def _curve(table: ScoreTable) -> list[Point]:
    """(flags on clean notes, detection) at every threshold, from none to all."""
    errored = np.sort(table.rounded[table.omission & ~table.missing])
    clean = np.sort(table.rounded[table.clean & ~table.missing])
    grid = np.unique(np.concatenate([errored, clean]))
    grid = np.append(grid, grid[-1] + 1) if grid.size else grid
    found = np.searchsorted(errored, grid) / max(int(table.omission.sum()), 1)
    alarms = np.searchsorted(clean, grid) / max(int(table.clean.sum()), 1)
    return [(float(x), float(y)) for x, y in zip(alarms, found, strict=True) if x <= 0.5]


def _at(area: PlotArea, x: float, y: float) -> Point:
    return area.px(x), area.py(y)


def _draw(
    drawing: Drawing, area: PlotArea, block: ComparedBlock, fixed: AtRule | None, best: Swept
) -> None:
    alarms, found = best.false_alarms.rate, best.detection.rate
    if alarms is not None and found is not None:
        drawing.dot(_at(area, alarms, found), f"{block.role} hollow", 6, f"{block.name}, swept")
    if fixed is None or fixed.false_alarms.rate is None or fixed.detection.rate is None:
        return
    at = _at(area, min(fixed.false_alarms.rate, 0.5), fixed.detection.rate)
    drawing.dot(at, block.role, 6, f"{block.name}, frozen threshold")
    drawing.text((at[0] + 10, at[1] + 4), block.name)


def _row(block: ComparedBlock, fixed: AtRule | None, best: Swept) -> list[str]:
    return [
        block.name,
        number(block.threshold, 2),
        DASH if fixed is None else percent(fixed.detection),
        DASH if fixed is None else percent(fixed.false_alarms),
        number(best.threshold, 2),
        percent(best.detection),
        percent(best.false_alarms),
        number(best.floor),
    ]
