"""Detection against flags on clean notes: the frozen threshold, the swept one, and its floor."""

from __future__ import annotations

import numpy as np

from heldout.experiments.report.figures.svg import Drawing, PlotArea, Point, axes
from heldout.experiments.report.sides import ComparedBlock, ComparedBlocks
from heldout.experiments.report.tables import Figure, Table
from heldout.experiments.report.words import DASH, number, percent
from heldout.gepa.statistics.measures import at_fixed_rule
from heldout.gepa.statistics.rates.detection import AtRule, Swept, swept
from heldout.gepa.statistics.table import ScoreTable


def thresholds(sides: ComparedBlocks, cap: float, flags_name: str) -> Figure | None:
    """Operating points on held-out; None where nothing was judged there."""
    measured = sides.measured
    if not measured:
        return None
    frame = PlotArea((0, 0.5), (0, 1), height=340)
    drawing = Drawing(frame.width, frame.height)
    axes(drawing, frame, f"{flags_name} (share of clean notes)", "detection of omissions")
    right = frame.box[2]
    drawing.line((frame.px(cap), frame.box[1]), (frame.px(cap), frame.box[3]), "chance")
    drawing.text((frame.px(cap) + 4, frame.box[1] + 12), f"cap {cap:.0%}", "start", "soft")
    rows = []
    for side in measured:
        best, fixed = _points(side, cap)
        table = _scores(side)
        drawing.path([_at(frame, x, y) for x, y in _curve(table)], f"{side.role} line")
        _draw(drawing, frame, side, fixed, best)
        rows.append(_row(side, fixed, best))
    floor = _points(measured[0], cap)[0].floor
    if floor is not None:
        drawing.line((frame.box[0], frame.py(floor)), (right, frame.py(floor)), "chance")
        drawing.text((right, frame.py(floor) - 5), f"floor {floor:.3f}", "end", "soft")
    return Figure(
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


def _scores(side: ComparedBlock) -> ScoreTable:
    assert side.heldout is not None
    return side.heldout.majority


def _points(side: ComparedBlock, cap: float) -> tuple[Swept, AtRule | None]:
    assert side.heldout is not None
    fixed = at_fixed_rule(side.heldout) if side.heldout.rule else None
    return swept(_scores(side), cap), fixed


def _curve(table: ScoreTable) -> list[Point]:
    """(flags on clean notes, detection) at every threshold, from none to all."""
    errored = np.sort(table.rounded[table.omission & ~table.missing])
    clean = np.sort(table.rounded[table.clean & ~table.missing])
    grid = np.unique(np.concatenate([errored, clean]))
    grid = np.append(grid, grid[-1] + 1) if grid.size else grid
    found = np.searchsorted(errored, grid) / max(int(table.omission.sum()), 1)
    alarms = np.searchsorted(clean, grid) / max(int(table.clean.sum()), 1)
    return [(float(x), float(y)) for x, y in zip(alarms, found, strict=True) if x <= 0.5]


def _at(frame: PlotArea, x: float, y: float) -> Point:
    return frame.px(x), frame.py(y)


def _draw(
    drawing: Drawing, frame: PlotArea, side: ComparedBlock, fixed: AtRule | None, best: Swept
) -> None:
    alarms, found = best.false_alarms.rate, best.detection.rate
    if alarms is not None and found is not None:
        drawing.dot(_at(frame, alarms, found), f"{side.role} hollow", 6, f"{side.name}, swept")
    if fixed is None or fixed.false_alarms.rate is None or fixed.detection.rate is None:
        return
    at = _at(frame, min(fixed.false_alarms.rate, 0.5), fixed.detection.rate)
    drawing.dot(at, side.role, 6, f"{side.name}, frozen threshold")
    drawing.text((at[0] + 10, at[1] + 4), side.name)


def _row(side: ComparedBlock, fixed: AtRule | None, best: Swept) -> list[str]:
    return [
        side.name,
        number(side.threshold, 2),
        DASH if fixed is None else percent(fixed.detection),
        DASH if fixed is None else percent(fixed.false_alarms),
        number(best.threshold, 2),
        percent(best.detection),
        percent(best.false_alarms),
        number(best.floor),
    ]
