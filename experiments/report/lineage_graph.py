"""Where each candidate stands in the lineage graph.

Across: the iteration. Up: the accept figure of candidates that entered; below them one row for
each reason for which proposals were rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from heldout.experiments.report.candidates import title
from heldout.experiments.report.figures.svg import Drawing, PlotArea, span_of, ticks
from heldout.experiments.report.words import number
from heldout.gepa.candidates import Origin
from heldout.gepa.record.events import CandidateEvent
from heldout.gepa.record.run import Run

HEIGHT = 300
ROW = 24
TOP = 26
LEAST_STEP, MOST_STEP, WIDE = 15.0, 44.0, 780.0
MARGIN = 26


@dataclass(frozen=True, slots=True)
class Graph:
    """The scale that stays in sight, the graph that scrolls, and their height in pixels."""

    scale: Markup
    graph: Markup
    width: int
    height: int


@dataclass(frozen=True)
class _Places:
    """Pixels of every candidate."""

    area: PlotArea
    at: Mapping[str, tuple[float, float]]
    rows: Mapping[str, float]
    width: int
    height: int


def graph_of(run: Run) -> Graph:
    """The graph of all candidates."""
    places = _places(run)
    drawing = Drawing(places.width, places.height)
    for tick in ticks(places.area.y):
        y = places.area.py(tick)
        drawing.line((0, y), (places.width, y), "grid")
    for y in places.rows.values():
        drawing.line((0, y), (places.width, y), "grid")
    for id_, body in run.candidates.items():
        for parent in body.parents:
            _edge(drawing, places, parent, id_)
    for number_, (id_, body) in enumerate(run.candidates.items()):
        _node(drawing, places, run, (number_, id_, body))
    return Graph(_scale(places), _svg(drawing), places.width, places.height)


def _places(run: Run) -> _Places:
    bodies = run.candidates
    seeds = sum(body.kind == Origin.SEED for body in bodies.values())
    last = max((body.iteration for body in bodies.values()), default=0)
    steps = max(1, last + seeds)
    step = min(MOST_STEP, max(LEAST_STEP, WIDE / steps))
    scored = [v for body in bodies.values() if (v := body.on_accept(run.primary)) is not None]
    area = PlotArea(span_of([*scored, 0.5]), span_of([*scored, 0.5]), height=HEIGHT,
                  margins=(0, TOP, 0, 14))  # fmt: skip
    reasons = dict.fromkeys(b.reason for b in bodies.values() if b.on_accept(run.primary) is None)
    rows = {reason or "not scored": HEIGHT + ROW * (i + 0.5) for i, reason in enumerate(reasons)}
    at = {}
    for order, (id_, body) in enumerate(bodies.items()):
        place = order if body.kind == Origin.SEED else seeds - 1 + body.iteration
        value = body.on_accept(run.primary)
        y = rows[body.reason or "not scored"] if value is None else area.py(value)
        at[id_] = (round(MARGIN + place * step, 1), y)
    width = int(2 * MARGIN + (steps - 1) * step) + 1
    return _Places(area, at, rows, width, HEIGHT + ROW * len(rows) + 10)


def _edge(drawing: Drawing, places: _Places, parent: str, child: str) -> None:
    (x1, y1), (x2, y2) = places.at[parent], places.at[child]
    middle = round((x1 + x2) / 2, 1)
    drawing.add(
        '<path class="edge" data-from="{}" data-to="{}" d="M{},{} C{},{} {},{} {},{}"/>',
        *(parent, child, x1, y1, middle, y1, middle, y2, x2, y2),
    )


def _node(
    drawing: Drawing, places: _Places, run: Run, node: tuple[int, str, CandidateEvent]
) -> None:
    number_, id_, body = node
    x, y = places.at[id_]
    won = run.winner is not None and run.winner.id == id_
    leads = run.leads.get(id_, 0)
    classes = ["node", body.kind, body.status, *(["won"] if won else [])]
    drawing.add(
        '<g class="{}" data-index="{}" data-id="{}" transform="translate({} {})" role="button" '
        'tabindex="{}" aria-label="{}"><title>{}</title>',
        *(" ".join(classes), number_, id_, x, y, 0 if number_ == 0 else -1, title(body)),
        title(body) + (f" · leads {leads}" if leads else ""),
    )
    if leads:
        drawing.add('<circle class="halo" r="{}"/>', round(8 + min(leads, 40) ** 0.5, 1))
    drawing.parts.append(_SHAPES[body.kind])
    drawing.add("</g>")


_SHAPES = {
    Origin.SEED.value: Markup('<rect class="shape" x="-5" y="-5" width="10" height="10"/>'),
    Origin.MUTATION.value: Markup('<circle class="shape" r="5.5"/>'),
    Origin.MERGE.value: Markup('<path class="shape" d="M0,-7.5 L7.5,0 L0,7.5 L-7.5,0 Z"/>'),
}


def _scale(places: _Places) -> Markup:
    drawing = Drawing(104, places.height)
    for tick in ticks(places.area.y):
        drawing.text((98, places.area.py(tick) + 4), number(tick, 2), "end", "soft")
    for reason, y in places.rows.items():
        drawing.text((98, y + 4), reason.replace("_", " "), "end", "soft")
    return _svg(drawing)


def _svg(drawing: Drawing) -> Markup:
    """The drawing at its own size: it scrolls instead of shrinking."""
    head = Markup('<svg width="{}" height="{}" viewBox="0 0 {} {}">').format(
        drawing.width, drawing.height, drawing.width, drawing.height
    )
    return head + Markup("").join(drawing.parts) + Markup("</svg>")
