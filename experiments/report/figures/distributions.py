"""Scores of clean and of errored notes on held-out."""

from __future__ import annotations

import numpy as np

from heldout.experiments.report.figures.svg import Drawing, PlotArea, axes
from heldout.experiments.report.sides import ComparedBlock, ComparedBlocks
from heldout.experiments.report.tables import Figure, Table
from heldout.experiments.report.words import number
from heldout.gepa.statistics.table import BoolArray, FloatArray, ScoreTable

BINS = 20
WIDTH = 720


def distributions(sides: ComparedBlocks) -> Figure | None:
    """One histogram a side, clean notes above the line, errored notes below; None without data."""
    measured = sides.measured
    if not measured:
        return None
    edges = _edges([_table(side) for side in measured])
    wide = WIDTH // len(measured)
    drawing = Drawing(WIDTH, 300)
    rows = []
    for index, side in enumerate(measured):
        table = _table(side)
        clean = _shares(table, table.clean, edges)
        errored = _shares(table, ~table.clean, edges)
        top = max(0.05, float(max(clean.max(initial=0), errored.max(initial=0))))
        frame = PlotArea(
            (edges[0], edges[-1]), (-top * 1.1, top * 1.1), wide, left=float(index * wide)
        )
        axes(drawing, frame, f"score, {side.name}", "share of notes", decimals=(1, 2))
        _bars(drawing, frame, edges, clean, "good bar")
        _bars(drawing, frame, edges, -errored, "bad bar")
        drawing.line((frame.box[0], frame.py(0)), (frame.box[2], frame.py(0)), "axis")
        rows += _rows(side, table)
    return Figure(
        "Scores of clean and errored notes",
        "Share of notes by score on held-out: clean notes upwards, errored notes downwards.",
        drawing.svg("Distributions of scores on held-out"),
        Table.of(["", "notes", "judgings with a score", "lowest", "median", "highest"], rows),
    )


def _table(side: ComparedBlock) -> ScoreTable:
    assert side.heldout is not None
    return side.heldout.tables[0]


def _edges(tables: list[ScoreTable]) -> FloatArray:
    scores = np.concatenate([table.rounded[~table.missing] for table in tables])
    low, high = (float(scores.min()), float(scores.max())) if scores.size else (0.0, 1.0)
    return np.linspace(low, high if high > low else low + 1, BINS + 1)


def _shares(table: ScoreTable, rows: BoolArray, edges: FloatArray) -> FloatArray:
    scores = table.rounded[rows & ~table.missing]
    counts = np.histogram(scores, edges)[0].astype(np.float64)
    return np.asarray(counts / max(scores.size, 1), dtype=np.float64)


def _bars(
    drawing: Drawing, frame: PlotArea, edges: FloatArray, shares: FloatArray, style: str
) -> None:
    for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True):
        if share:
            y = sorted((frame.py(0), frame.py(float(share))))
            x = frame.px(float(low)), frame.px(float(high))
            label = f"{low:.2f} to {high:.2f}: {abs(share):.1%}"
            drawing.rect((x[0] + 0.5, y[0]), (x[1] - x[0] - 1, y[1] - y[0]), style, label)


def _rows(side: ComparedBlock, table: ScoreTable) -> list[list[str]]:
    kinds = (
        ("clean", table.clean),
        ("omissions", table.omission),
        ("commissions", table.commission),
    )
    rows = []
    for name, mask in kinds:
        scores = table.rounded[mask & ~table.missing]
        figures = np.quantile(scores, [0, 0.5, 1]) if scores.size else [None] * 3
        shown = [number(None if f is None else float(f), 2) for f in figures]
        rows.append([f"{side.name}, {name}", str(int(mask.sum())), str(scores.size), *shown])
    return rows
