"""The search: accept figures over iterations, reward beside separation, and what it cost."""

from __future__ import annotations

from heldout.experiments.report.candidates import fate
from heldout.experiments.report.figures.svg import Drawing, PlotArea, axes, span_of
from heldout.experiments.report.tables import Figure, Table
from heldout.experiments.report.words import number, signed, thousands
from heldout.gepa.candidates import Origin
from heldout.gepa.record.events import CandidateEvent
from heldout.gepa.record.run import Run
from heldout.gepa.settings import Primary

GAP = 0.02


def progress(run: Run, primary: Primary) -> Figure | None:
    """Accept figures of candidates by iteration, and the best so far; None before any."""
    scored = [c for c in run.entered if c.accept and c.accept.paired(primary) is not None]
    if not scored:
        return None
    figures = [_figure(c, primary) for c in scored]
    last = max(1, *(b.iteration for b in run.candidates.values()))
    low, high = span_of([*figures, 0.5])
    frame = PlotArea((0, last), (low - GAP, high), height=320)
    drawing = Drawing(frame.width, frame.height)
    axes(drawing, frame, "iteration", f"{primary.replace('_', ' ')} on accept", decimals=(0, 2))
    if run.baseline is not None and run.baseline in scored:
        y = frame.py(_figure(run.baseline, primary))
        drawing.line((frame.box[0], y), (frame.box[2], y), "baseline line")
    drawing.path(_best(frame, scored, primary, last), "winner line")
    for body in run.candidates.values():
        _mark(drawing, frame, body, primary, run)
    return Figure(
        "The search on accept",
        "Dots are candidates that entered, the line the best so far, the ochre line the baseline; "
        "crosses at the foot are proposals that were rejected.",
        drawing.svg("Accept figures over iterations"),
        _table(run, primary),
    )


def _best(
    frame: PlotArea, scored: list[CandidateEvent], primary: Primary, last: int
) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    best = float("-inf")
    for body in scored:
        value = _figure(body, primary)
        if value > best:
            if points:
                points.append((frame.px(body.iteration), points[-1][1]))
            points.append((frame.px(body.iteration), frame.py(value)))
            best = value
    return [*points, (frame.px(last), points[-1][1])]


def _mark(
    drawing: Drawing, frame: PlotArea, body: CandidateEvent, primary: Primary, run: Run
) -> None:
    x = frame.px(body.iteration)
    label = f"{body.id}: {fate(body)}"
    if body.accept is None:
        foot = frame.box[3] - 6
        drawing.line((x - 3, foot - 3), (x + 3, foot + 3), "other")
        drawing.line((x - 3, foot + 3), (x + 3, foot - 3), "other")
    elif body.accept.paired(primary) is not None:
        won = run.winner is not None and body.id == run.winner.id
        style = "winner" if won else "baseline" if body.kind is Origin.SEED else "accent"
        drawing.dot((x, frame.py(_figure(body, primary))), style, 7 if won else 4.5, label)


def _figure(candidate: CandidateEvent, primary: Primary) -> float:
    """The accept figure of a candidate that has one."""
    value = None if candidate.accept is None else candidate.accept.paired(primary)
    assert value is not None  # only candidates with a figure are drawn
    return value


def _table(run: Run, primary: Primary) -> Table:
    rows = []
    for body in run.candidates.values():
        accept = body.accept
        rows.append(
            [
                body.id,
                body.kind,
                "+".join(body.parents) or "–",
                body.iteration,
                fate(body),
                number(accept.paired(primary) if accept else None),
                run.leads.get(body.id, "–"),
            ]
        )
    columns = ["candidate", "kind", "parents", "iteration", "fate", "on accept", "leads"]
    return Table.of(columns, rows)


def separations(run: Run) -> Figure | None:
    """For each entry the change in reward beside the change in separation; None without one."""
    entries = [b for b in run.entered if b.minibatch]
    if not entries:
        return None
    changes = [(_change(b, "reward"), _change(b, "separation")) for b in entries]
    known = [value for pair in changes for value in pair if value is not None]
    frame = PlotArea((0, len(entries)), span_of([*known, 0.0]), height=280)
    drawing = Drawing(frame.width, frame.height)
    axes(drawing, frame, "entries in order", "change on the minibatch", decimals=(0, 2))
    for index, pair in enumerate(changes):
        for side, (value, style) in enumerate(zip(pair, ("accent bar", "other bar"), strict=True)):
            if value is not None:
                _bar(drawing, frame, index + 0.15 + 0.35 * side, value, style)
    drawing.line((frame.box[0], frame.py(0)), (frame.box[2], frame.py(0)), "axis")
    fell = sum(1 for _, s in changes if s is not None and s < 0)
    return Figure(
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


def _bar(drawing: Drawing, frame: PlotArea, x: float, value: float, style: str) -> None:
    ends = sorted((frame.py(0), frame.py(value)))
    width = frame.px(x + 0.3) - frame.px(x)
    drawing.rect((frame.px(x), ends[0]), (width, ends[1] - ends[0]), style, signed(value))


PURPOSES = {
    "baseline": "baseline on held-out",
    "seed": "seeds on accept",
    "parent": "parents on minibatches",
    "child": "children on minibatches",
    "accept": "entries on accept",
    "confirm": "winner on held-out",
    "drift": "baseline judged afresh",
}


def spend(run: Run) -> Figure | None:
    """What was spent on what, reflector included; None before anything was."""
    rows = _spending(run)
    total = sum(calls for _, calls, _, _ in rows)
    if not total:
        return None
    height = 16 + 26 * len(rows)
    frame = PlotArea((0, max(calls for _, calls, _, _ in rows)), (0, 1), height=height,
                  margins=(200, 10, 60, 30))  # fmt: skip
    drawing = Drawing(frame.width, height)
    for index, (name, calls, _, _) in enumerate(rows):
        y = 20 + 26 * index
        drawing.text((12, y + 4), name)
        size = (frame.px(calls) - frame.px(0), 14)
        drawing.rect((frame.px(0), y - 7), size, "accent bar", thousands(calls))
        drawing.text((frame.px(calls) + 6, y + 4), thousands(calls), "start", "soft")
    cells = [[n, thousands(c), thousands(t), number(u, 4)] for n, c, t, u in rows]
    return Figure(
        "What it cost",
        "Calls by purpose. A call that several results used counts once, where it was first used.",
        drawing.svg("Calls by purpose"),
        Table.of(["", "calls", "tokens", "USD"], cells),
    )


def _spending(run: Run) -> list[tuple[str, int, int, float | None]]:
    """Name, calls, tokens and USD: what was judged, the reflector as the rest, and all of it."""
    rows: list[tuple[str, int, int, float | None]] = []
    for purpose, name in PURPOSES.items():
        spent = [e.spent for e in run.evaluations if e.purpose == purpose]
        if spent:
            calls, tokens = sum(s.calls for s in spent), sum(s.tokens for s in spent)
            rows.append((name, calls, tokens, _sum([s.usd for s in spent])))
    total = run.spent
    if total is not None:
        calls = total.calls - sum(row[1] for row in rows)
        tokens = total.tokens - sum(row[2] for row in rows)
        judged = _sum([row[3] for row in rows])
        known = judged is not None and total.usd is not None
        left = max(0.0, (total.usd or 0.0) - (judged or 0.0)) if known else None
        rows.append(("reflector", calls, tokens, left))
        rows.append(("in all", total.calls, total.tokens, total.usd))
    return rows


def _sum(prices: list[float | None]) -> float | None:
    """The sum, None where a price is not known."""
    known = [price for price in prices if price is not None]
    return sum(known) if len(known) == len(prices) else None
