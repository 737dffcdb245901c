"""The ladder as a figure: block and control over the rungs, with intervals."""

from __future__ import annotations

from importlib import resources

from markupsafe import Markup

from heldout.experiments.practice.ladder import Ladder, LadderStep
from heldout.experiments.practice.rungs import RungResult
from heldout.experiments.report.figures.svg import Drawing, PlotArea, span_of, ticks
from heldout.experiments.report.words import number
from heldout.gepa.statistics.intervals.interval import Interval

CHANCE = 0.5
OFFSET = 7.0
"""Pixels between the middle of a rung and each of its two bars."""


def figure(ladder: Ladder) -> Markup:
    """An SVG; its classes are those of the reports' style sheet."""
    bars = [i for step in ladder.steps for i in _both(step, ladder) if i is not None]
    ends = [CHANCE, *(end for i in bars for end in (i.low, i.high))]
    low, high = span_of(ends)
    frame = PlotArea((0, len(ladder.steps)), (max(0.0, low), min(1.0, high)), height=340,
                  margins=(64, 26, 22, 74))  # fmt: skip
    drawing = Drawing(frame.width, frame.height)
    _scale(drawing, frame, ladder)
    for style, name, shift in (("winner", ladder.name, -OFFSET), ("baseline", "control", OFFSET)):
        points = []
        for place, step in enumerate(ladder.steps):
            found = _both(step, ladder)[0 if style == "winner" else 1]
            if found is None:
                continue
            x = frame.px(place + 0.5) + shift
            points.append((x, frame.py(found.estimate)))
            _bar(drawing, frame, x, found, style)
        drawing.path(points, f"{style} line")
        for x, y in points:
            drawing.dot((x, y), style, 5, f"{name} {number(_value(frame, y))}")
    _legend(drawing, frame, ladder)
    return drawing.svg(f"Paired {ladder.pairs}s of block and control at each budget")


def standalone(ladder: Ladder) -> str:
    """The same as a file of its own, style included."""
    style = resources.files("heldout.experiments.report") / "templates" / "style.css"
    # The style sheet is a file of this distribution, not data.
    sheet = Markup("<style>{}</style>").format(Markup(style.read_text("utf-8")))
    drawn = str(figure(ladder))
    head, _, rest = drawn.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg">{sheet}{rest}\n'


def _both(step: LadderStep, ladder: Ladder) -> tuple[Interval | None, Interval | None]:
    return step.block.paired(ladder.pairs), step.control.paired(ladder.pairs)


def _scale(drawing: Drawing, frame: PlotArea, ladder: Ladder) -> None:
    left, top, right, bottom = frame.box
    for tick in ticks(frame.y):
        drawing.line((left, frame.py(tick)), (right, frame.py(tick)), "grid")
        drawing.text((left - 8, frame.py(tick) + 4), number(tick, 2), "end", "soft")
    drawing.line((left, frame.py(CHANCE)), (right, frame.py(CHANCE)), "chance")
    drawing.path([(left, top), (left, bottom), (right, bottom)], "axis")
    judge = ", simulated judge" if ladder.simulated else ""
    title = f"paired {ladder.pairs}s, {ladder.notes}{judge}"
    drawing.text((left, top - 10), title, "start", "soft")
    for place, step in enumerate(ladder.steps):
        x, budget = frame.px(place + 0.5), step.rung.budget
        drawing.text((x, bottom + 17), budget.reasoning_effort or "effort not sent", "middle")
        cap = f"{budget.max_tokens} tokens"
        many = f" × {step.rung.samples}" if step.rung.samples > 1 else ""
        drawing.text((x, bottom + 33), cap + many, "middle", "soft")
        drawing.text((x, bottom + 49), _written(step.block), "middle", "soft")


def _written(result: RungResult) -> str:
    return (
        "bought before" if result.cost is None else f"{result.cost.completion_tokens:.0f} written"
    )


def _bar(drawing: Drawing, frame: PlotArea, x: float, interval: Interval, style: str) -> None:
    low, high = frame.py(interval.low), frame.py(interval.high)
    drawing.line((x, low), (x, high), f"{style} line")
    for end in (low, high):
        drawing.line((x - 4, end), (x + 4, end), f"{style} line")


def _legend(drawing: Drawing, frame: PlotArea, ladder: Ladder) -> None:
    y = frame.height - 8
    drawing.dot((frame.box[0] + 6, y - 4), "winner", 5)
    drawing.text((frame.box[0] + 18, y), ladder.name, "start", "soft")
    drawing.dot((frame.box[0] + 306, y - 4), "baseline", 5)
    drawing.text((frame.box[0] + 318, y), f"control: {ladder.control}", "start", "soft")


def _value(frame: PlotArea, y: float) -> float:
    low, high = frame.y
    top, bottom = frame.box[1], frame.box[3]
    return low + (high - low) * (bottom - y) / ((bottom - top) or 1)
