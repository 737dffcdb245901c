"""Scores: of clean and of errored notes, and against note length."""

from __future__ import annotations

import numpy as np

from heldout.experiments.report.compared import ComparedBlock, ComparedBlocks
from heldout.experiments.report.figures.svg import Chart, Drawing, PlotArea, axes, span_of
from heldout.experiments.report.words import Table, number
from heldout.gepa.record.run import Run
from heldout.gepa.statistics.agreement.length import length_following
from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.statistics.table import BoolArray, FloatArray, ScoreTable
from heldout.gepa.word_control import word_count_table

BINS = 20
WIDTH = 720


def distributions(blocks: ComparedBlocks) -> Chart | None:
    """One histogram a block, clean notes above the line, errored below; None without data."""
    measured = [(block, block.on_heldout.tables[0]) for block in blocks.measured]
    if not measured:
        return None
    edges = _edges([table for _, table in measured])
    wide = WIDTH // len(measured)
    drawing = Drawing(WIDTH, 300)
    rows = []
    for index, (block, table) in enumerate(measured):
        clean = _shares(table, table.clean, edges)
        errored = _shares(table, ~table.clean, edges)
        top = max(0.05, float(max(clean.max(initial=0), errored.max(initial=0))))
        area = PlotArea(
            (edges[0], edges[-1]), (-top * 1.1, top * 1.1), wide, left=float(index * wide)
        )
        axes(drawing, area, f"score, {block.name}", "share of notes", decimals=(1, 2))
        _bars(drawing, area, edges, clean, "good bar")
        _bars(drawing, area, edges, -errored, "bad bar")
        drawing.line((area.box[0], area.py(0)), (area.box[2], area.py(0)), "axis")
        rows += _quantile_rows(block, table)
    return Chart(
        "Scores of clean and errored notes",
        "Share of notes by score on held-out: clean notes upwards, errored notes downwards.",
        drawing.svg("Distributions of scores on held-out"),
        Table.of(["", "notes", "judgings with a score", "lowest", "median", "highest"], rows),
    )


def _edges(tables: list[ScoreTable]) -> FloatArray:
    scores = np.concatenate([table.rounded[~table.missing] for table in tables])
    low, high = (float(scores.min()), float(scores.max())) if scores.size else (0.0, 1.0)
    return np.linspace(low, high if high > low else low + 1, BINS + 1)


def _shares(table: ScoreTable, rows: BoolArray, edges: FloatArray) -> FloatArray:
    scores = table.rounded[rows & ~table.missing]
    counts = np.histogram(scores, edges)[0].astype(np.float64)
    return np.asarray(counts / max(scores.size, 1), dtype=np.float64)


def _bars(
    drawing: Drawing, area: PlotArea, edges: FloatArray, shares: FloatArray, style: str
) -> None:
    for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True):
        if share:
            y = sorted((area.py(0), area.py(float(share))))
            x = area.px(float(low)), area.px(float(high))
            label = f"{low:.2f} to {high:.2f}: {abs(share):.1%}"
            drawing.rect((x[0] + 0.5, y[0]), (x[1] - x[0] - 1, y[1] - y[0]), style, label)


def _quantile_rows(block: ComparedBlock, table: ScoreTable) -> list[list[str]]:
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
        rows.append([f"{block.name}, {name}", str(int(mask.sum())), str(scores.size), *shown])
    return rows


def length(run: Run, blocks: ComparedBlocks) -> Chart | None:
    """Scores against words inside consultations, beside the judge that only counts words.

    None where the words are not on record.
    """
    shown = [(block, table) for block in blocks.all if (table := _counted(run, block)) is not None]
    if not shown:
        return None
    first = shown[0][1].labels
    wide = WIDTH // len(shown)
    drawing = Drawing(WIDTH, 300)
    rows = []
    for index, (block, table) in enumerate(shown):
        words, scores = _deviations(table, run)
        area = PlotArea(span_of(words.tolist(), least=4), span_of(scores.tolist(), least=1), wide,
                        left=float(index * wide))  # fmt: skip
        axes(drawing, area, f"words more than the mean, {block.name}", "score above the mean",
             decimals=(0, 1))  # fmt: skip
        for x, y in zip(words, scores, strict=True):
            drawing.dot((area.px(float(x)), area.py(float(y))), f"{block.role} bar", 3)
        rows.append(_length_row(block.name, table, run))
    rows.append(_length_row("counting words", word_count_table(first, run.words), run))
    return Chart(
        "Scores against note length",
        f"Each dot is a note of {run.split_of[first[0].id]}, both values as deviations from its "
        "consultation's mean. "
        "An omission is shorter than its twin, so a judge that counts words orders nearly every "
        "omission rightly and every addition wrongly without reading anything.",
        drawing.svg("Scores against words inside consultations"),
        Table.of(
            ["", "correlation with words", "notes", "paired omissions", "paired commissions"], rows
        ),
    )


def _counted(run: Run, block: ComparedBlock) -> ScoreTable | None:
    """Held-out scores where they are there and the word counts too, else accept."""
    tables = [block.accept] if block.heldout is None else [block.heldout.tables[0], block.accept]
    return next((t for t in tables if all(x.id in run.words for x in t.labels)), None)


def _deviations(table: ScoreTable, run: Run) -> tuple[FloatArray, FloatArray]:
    keep = ~table.missing
    groups = table.cluster[keep]
    sizes = np.maximum(np.bincount(groups), 1)
    words = np.array([run.words[x.id] for x in table.labels], dtype=np.float64)[keep]
    scores = table.values[keep]
    means = [(np.bincount(groups, values) / sizes)[groups] for values in (words, scores)]
    return words - means[0], scores - means[1]


def _length_row(name: str, table: ScoreTable, run: Run) -> list[str]:
    found = length_following(table, run.words)
    figures = [paired(table, "omission").value, paired(table, "commission").value]
    return [name, number(found.correlation), str(found.n), *map(number, figures)]
