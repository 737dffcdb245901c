"""Accept against held-out: what the search saw beside what it did not."""

from __future__ import annotations

from heldout.experiments.report.figures.svg import Drawing, PlotArea, interval_bar, span_of, x_axis
from heldout.experiments.report.sides import ComparedBlock, ComparedBlocks, paired_over
from heldout.experiments.report.tables import Figure, Table
from heldout.experiments.report.words import interval_text, signed
from heldout.gepa.statistics.intervals.interval import Interval

ROW = 64
CHANCE = 0.5


def agreement(sides: ComparedBlocks) -> Figure:
    """Primary figure of baseline and winner on both splits, with intervals."""
    rows = [(side, *_both(side, sides)) for side in sides.all]
    ends = [CHANCE]
    for _, accept, heldout in rows:
        ends += [e for i in (accept, heldout) if i for e in (i.low, i.high)]
    height = 60 + ROW * len(rows)
    frame = PlotArea(span_of(ends), (0, 1), height=height, margins=(120, 22, 90, 46))
    drawing = Drawing(frame.width, height)
    x_axis(drawing, frame, f"{sides.measure}, 0.5 is chance")
    chance = frame.px(CHANCE)
    drawing.line((chance, frame.box[1]), (chance, frame.box[3]), "chance")
    for index, (side, accept, heldout) in enumerate(rows):
        y = 44 + ROW * index
        drawing.text((12, y + 4), side.name)
        _mark(drawing, frame, y - 11, accept, f"{side.role} hollow", "accept")
        _mark(drawing, frame, y + 11, heldout, side.role, "held-out")
    percent = f"{100 * sides.level:.4g}%"
    return Figure(
        "Accept against held-out",
        f"Hollow: accept, which the search chose on. Filled: held-out, which it never saw. "
        f"Bars are {percent} cluster-robust t intervals over consultations.",
        drawing.svg(f"{sides.measure} on accept and on held-out"),
        _table(rows),
    )


def _both(side: ComparedBlock, sides: ComparedBlocks) -> tuple[Interval | None, Interval | None]:
    heldout = side.heldout
    return (
        paired_over((side.accept,), sides.primary, sides.level),
        None if heldout is None else paired_over(heldout.tables, sides.primary, sides.level),
    )


def _mark(
    drawing: Drawing, frame: PlotArea, y: float, interval: Interval | None, style: str, split: str
) -> None:
    if interval is None:
        return
    role = style.split(maxsplit=1)[0]
    interval_bar(drawing, frame, y, (interval.low, interval.high), role)
    label = f"{split} {interval_text(interval)}"
    drawing.dot((frame.px(interval.estimate), y), style, 5, label)
    drawing.text((frame.px(interval.high) + 8, y + 4), split, "start", "soft")


def _table(rows: list[tuple[ComparedBlock, Interval | None, Interval | None]]) -> Table:
    cells = []
    for side, accept, heldout in rows:
        optimism = accept.estimate - heldout.estimate if accept and heldout else None
        texts = [interval_text(i if i else None) for i in (accept, heldout)]
        cells.append([side.name, *texts, signed(optimism)])
    return Table.of(["", "accept", "held-out", "accept minus held-out"], cells)
