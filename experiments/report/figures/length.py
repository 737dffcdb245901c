"""How far scores follow note length, beside the judge that only counts words."""

from __future__ import annotations

import numpy as np

from heldout.experiments.report.figures.svg import Drawing, PlotArea, axes, span_of
from heldout.experiments.report.sides import ComparedBlock, ComparedBlocks
from heldout.experiments.report.tables import Figure, Table
from heldout.experiments.report.words import number
from heldout.gepa.record.run import Run
from heldout.gepa.statistics.agreement.length import length_following
from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.statistics.table import FloatArray, ScoreTable
from heldout.gepa.word_control import word_count_table

WIDTH = 720


def length(run: Run, sides: ComparedBlocks) -> Figure | None:
    """Scores against words inside consultations; None where the words are not on record."""
    shown = [(side, table) for side in sides.all if (table := _table(run, side)) is not None]
    if not shown:
        return None
    split = run.split_of[shown[0][1].labels[0].id]
    wide = WIDTH // len(shown)
    drawing = Drawing(WIDTH, 300)
    rows = []
    for index, (side, table) in enumerate(shown):
        words, scores = _deviations(table, run)
        frame = PlotArea(span_of(words.tolist(), least=4), span_of(scores.tolist(), least=1), wide,
                      left=float(index * wide))  # fmt: skip
        axes(drawing, frame, f"words more than the mean, {side.name}", "score above the mean",
             decimals=(0, 1))  # fmt: skip
        for x, y in zip(words, scores, strict=True):
            drawing.dot((frame.px(float(x)), frame.py(float(y))), f"{side.role} bar", 3)
        rows.append(_row(side.name, table, run))
    control = word_count_table(shown[0][1].labels, run.words)
    rows.append(_row("counting words", control, run))
    return Figure(
        "Scores against note length",
        f"Each dot is a note of {split}, both values as deviations from its consultation's mean. "
        "An omission is shorter than its twin, so a judge that counts words orders nearly every "
        "omission rightly and every addition wrongly without reading anything.",
        drawing.svg("Scores against words inside consultations"),
        Table.of(_COLUMNS, rows),
    )


_COLUMNS = ["", "correlation with words", "notes", "paired omissions", "paired commissions"]


def _table(run: Run, side: ComparedBlock) -> ScoreTable | None:
    """Held-out scores where they are there and the word counts too, else accept."""
    tables = [side.accept] if side.heldout is None else [side.heldout.tables[0], side.accept]
    return next((t for t in tables if all(x.id in run.words for x in t.labels)), None)


def _deviations(table: ScoreTable, run: Run) -> tuple[FloatArray, FloatArray]:
    keep = ~table.missing
    groups = table.cluster[keep]
    sizes = np.maximum(np.bincount(groups), 1)
    words = np.array([run.words[x.id] for x in table.labels], dtype=np.float64)[keep]
    scores = table.values[keep]
    means = [(np.bincount(groups, values) / sizes)[groups] for values in (words, scores)]
    return words - means[0], scores - means[1]


def _row(name: str, table: ScoreTable, run: Run) -> list[str]:
    found = length_following(table, run.words)
    figures = [paired(table, "omission").value, paired(table, "commission").value]
    return [name, number(found.correlation), str(found.n), *map(number, figures)]
