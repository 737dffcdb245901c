"""The search: accept figures over iterations, reward beside separation, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.experiments.report.candidates import fate
from heldout.experiments.report.figures.svg import Chart, Drawing, PlotArea, Point, axes, span_of
from heldout.experiments.report.words import DASH, Table, number, signed, thousands
from heldout.gepa.candidates import Origin
from heldout.gepa.record.events import CandidateEvent
from heldout.gepa.record.run import Run
from heldout.gepa.spending import Spent

GAP = 0.02

Scored = tuple[CandidateEvent, float]
"""A candidate with its accept figure."""


def progress(run: Run) -> Chart | None:
    """Accept figures of candidates by iteration, and the best so far; None before any."""
    scored = [(c, v) for c in run.entered if (v := c.on_accept(run.primary)) is not None]
    if not scored:
        return None
    last = max(1, *(c.iteration for c in run.candidates.values()))
    low, high = span_of([*(value for _, value in scored), 0.5])
    area = PlotArea((0, last), (low - GAP, high), height=320)
    drawing = Drawing(area.width, area.height)
    axes(drawing, area, "iteration", f"{run.primary.replace('_', ' ')} on accept", decimals=(0, 2))
    for candidate, value in scored:
        if candidate is run.baseline:
            drawing.line((area.box[0], area.py(value)), (area.box[2], area.py(value)),
                         "baseline line")  # fmt: skip
    drawing.path([*_best(area, scored, last)], "winner line")
    for candidate in run.candidates.values():
        _mark(drawing, area, candidate, run)
    return Chart(
        "The search on accept",
        "Dots are candidates that entered, the line the best so far, the ochre line the baseline; "
        "crosses at the foot are proposals that were rejected.",
        drawing.svg("Accept figures over iterations"),
        _table(run),
    )


def _best(area: PlotArea, scored: Sequence[Scored], last: int) -> list[Point]:
    """The stairs of the best figure so far."""
    points: list[Point] = []
    best = float("-inf")
    for candidate, value in scored:
        if value > best:
            if points:
                points.append((area.px(candidate.iteration), points[-1][1]))
            points.append((area.px(candidate.iteration), area.py(value)))
            best = value
    return [*points, (area.px(last), points[-1][1])]


def _mark(drawing: Drawing, area: PlotArea, candidate: CandidateEvent, run: Run) -> None:
    x, value = area.px(candidate.iteration), candidate.on_accept(run.primary)
    if candidate.accept is None:
        foot = area.box[3] - 6
        drawing.line((x - 3, foot - 3), (x + 3, foot + 3), "other")
        drawing.line((x - 3, foot + 3), (x + 3, foot - 3), "other")
    elif value is not None:
        won = run.winner is not None and candidate.id == run.winner.id
        style = "winner" if won else "baseline" if candidate.kind is Origin.SEED else "accent"
        label = f"{candidate.id}: {fate(candidate)}"
        drawing.dot((x, area.py(value)), style, 7 if won else 4.5, label)


def _table(run: Run) -> Table:
    rows = [
        [
            c.id,
            c.kind,
            "+".join(c.parents) or DASH,
            c.iteration,
            fate(c),
            number(c.on_accept(run.primary)),
            run.leads.get(c.id, DASH),
        ]
        for c in run.candidates.values()
    ]
    columns = ["candidate", "kind", "parents", "iteration", "fate", "on accept", "leads"]
    return Table.of(columns, rows)


def separations(run: Run) -> Chart | None:
    """For each entry the change in reward beside the change in separation; None without one."""
    entries = [b for b in run.entered if b.minibatch]
    if not entries:
        return None
    changes = [(_change(b, "reward"), _change(b, "separation")) for b in entries]
    known = [value for pair in changes for value in pair if value is not None]
    area = PlotArea((0, len(entries)), span_of([*known, 0.0]), height=280)
    drawing = Drawing(area.width, area.height)
    axes(drawing, area, "entries in order", "change on the minibatch", decimals=(0, 2))
    for index, pair in enumerate(changes):
        for bar, (value, style) in enumerate(zip(pair, ("accent bar", "other bar"), strict=True)):
            if value is not None:
                _bar(drawing, area, index + 0.15 + 0.35 * bar, value, style)
    drawing.line((area.box[0], area.py(0)), (area.box[2], area.py(0)), "axis")
    fell = sum(1 for _, s in changes if s is not None and s < 0)
    return Chart(
        "Reward beside separation",
        "Left bar: change in reward, on which a candidate enters. Right bar: change in separation "
        f"of all errored from all clean notes of the batch. Separation fell in {fell} of "
        f"{len(entries)} entries.",
        drawing.svg("Changes in reward and separation at each entry"),
        Table.of(
            ["candidate", "reward", "separation"],
            [[b.id, *map(signed, c)] for b, c in zip(entries, changes, strict=True)],
        ),
    )


def _change(body: CandidateEvent, name: str) -> float | None:
    before, after = (getattr(body.minibatch, f"{who}_{name}") for who in ("parent", "child"))
    return None if before is None or after is None else after - before


def _bar(drawing: Drawing, area: PlotArea, x: float, value: float, style: str) -> None:
    ends = sorted((area.py(0), area.py(value)))
    width = area.px(x + 0.3) - area.px(x)
    drawing.rect((area.px(x), ends[0]), (width, ends[1] - ends[0]), style, signed(value))


PURPOSES = {
    "baseline": "baseline on held-out",
    "seed": "seeds on accept",
    "parent": "parents on minibatches",
    "child": "children on minibatches",
    "accept": "entries on accept",
    "threshold": "accept at the confirm settings",
    "confirm": "winner on held-out",
    "drift": "baseline judged afresh",
}


def spend(run: Run) -> Chart | None:
    """What was spent on what, reflector included; None before anything was."""
    rows = _spending(run)
    most = max((spent.calls for _, spent in rows), default=0)
    if not most:
        return None
    height = 16 + 26 * len(rows)
    area = PlotArea((0, most), (0, 1), height=height, margins=(200, 10, 60, 30))
    drawing = Drawing(area.width, height)
    for index, (name, spent) in enumerate(rows):
        y, calls = 20 + 26 * index, thousands(spent.calls)
        drawing.text((12, y + 4), name)
        size = (area.px(spent.calls) - area.px(0), 14)
        drawing.rect((area.px(0), y - 7), size, "accent bar", calls)
        drawing.text((area.px(spent.calls) + 6, y + 4), calls, "start", "soft")
    cells = [[n, thousands(s.calls), thousands(s.tokens), number(s.usd, 4)] for n, s in rows]
    return Chart(
        "What it cost",
        "Calls by purpose. A call that several results used counts once, where it was first used.",
        drawing.svg("Calls by purpose"),
        Table.of(["", "calls", "tokens", "USD"], cells),
    )


def _spending(run: Run) -> list[tuple[str, Spent]]:
    """What was judged by purpose, the reflector as the rest, and all of it."""
    rows = []
    for purpose, name in PURPOSES.items():
        spent = [e.spent for e in run.evaluations if e.purpose == purpose]
        if spent:
            rows.append((name, sum(spent, Spent())))
    total = run.spent
    if total is not None:
        judged = sum((spent for _, spent in rows), Spent())
        known = total.usd is not None and judged.usd is not None
        usd = max(0.0, (total.usd or 0.0) - (judged.usd or 0.0)) if known else None
        left = Spent(total.calls - judged.calls, total.tokens - judged.tokens, usd)
        rows += [("reflector", left), ("in all", total)]
    return rows
