"""Score tables for tests: built from a few numbers, or drawn by hypothesis."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import NoteClass, NoteLabel, Severity, TraceLevel

KINDS = {
    "omit": (NoteClass.OMIT_COMPLETE, TraceLevel.COMPLETE, Severity.CRITICAL),
    "weak": (NoteClass.OMIT_PARTIAL, TraceLevel.PARTIAL_WEAK, Severity.SUPPORTING),
    "strong": (NoteClass.OMIT_PARTIAL, TraceLevel.PARTIAL_STRONG, Severity.PERIPHERAL),
    "add": (NoteClass.ADD, None, None),
    "change": (NoteClass.CHANGE, None, Severity.CRITICAL),
}

Score = float | None
Group = tuple[Score, Sequence[tuple[str, Score]]]
"""Score of the clean note, then (kind, score) of each errored note."""


def build(*groups: Group, strata: Sequence[str] = ("made",)) -> ScoreTable:
    """The table of some consultations; strata are dealt in turn."""
    labels: list[NoteLabel] = []
    scores: list[Score] = []
    for number, (clean, errored) in enumerate(groups):
        stratum = strata[number % len(strata)]
        name = f"{stratum}|c{number:03d}"
        twin = f"{name}|clean"
        labels.append(NoteLabel(twin, name, stratum, NoteClass.CLEAN, twin))
        scores.append(clean)
        for place, (kind, score) in enumerate(errored):
            note_class, trace, severity = KINDS[kind]
            labels.append(
                NoteLabel(
                    f"{name}|{kind}|{place}",
                    name,
                    stratum,
                    note_class,
                    twin,
                    trace,
                    severity,
                    "hand",
                )
            )
            scores.append(score)
    return ScoreTable(tuple(labels), tuple(scores))


def with_scores(table: ScoreTable, scores: Sequence[Score]) -> ScoreTable:
    """The same notes with other scores."""
    return ScoreTable(table.labels, tuple(scores))


grid_scores = st.integers(0, 20).map(lambda step: step / 2)
maybe_scores = st.one_of(grid_scores, st.none())


@st.composite
def tables(
    draw: st.DrawFn,
    scores: st.SearchStrategy[Score] = maybe_scores,
    min_groups: int = 1,
    max_groups: int = 8,
) -> ScoreTable:
    """A table of a few consultations, each with one to four errored notes of any kind."""
    errored = st.lists(st.tuples(st.sampled_from(list(KINDS)), scores), min_size=1, max_size=4)
    groups = st.lists(st.tuples(scores, errored), min_size=min_groups, max_size=max_groups)
    return build(*draw(groups))


@st.composite
def table_pairs(
    draw: st.DrawFn,
    scores: st.SearchStrategy[Score] = maybe_scores,
    min_groups: int = 1,
    max_groups: int = 8,
) -> tuple[ScoreTable, ScoreTable]:
    """Two tables over the same notes."""
    first = draw(tables(scores, min_groups, max_groups))
    size = len(first.labels)
    return first, with_scores(first, draw(st.lists(scores, min_size=size, max_size=size)))


def shuffled(table: ScoreTable, order: Sequence[int]) -> ScoreTable:
    """The table with its rows in another order."""
    return ScoreTable(tuple(table.labels[i] for i in order), tuple(table.scores[i] for i in order))
