"""Which errored notes a figure is about, by name."""

from __future__ import annotations

from typing import Literal

import numpy as np

from heldout.gepa.statistics.table import BoolArray, ScoreTable
from heldout.splits.benchmark import NoteClass, Severity, TraceLevel

PairKind = Literal["omission", "commission", "errored"]
Selection = PairKind | NoteClass | TraceLevel | Severity | BoolArray
"""A kind of pairs, one class, one trace level, one severity, or a mask over the rows."""


def rows_of(table: ScoreTable, select: Selection = "omission") -> BoolArray:
    """The errored notes of `select`, shape (notes,).

    Raises ValueError for a mask of another shape, a mask that selects a clean note, or an unknown
    name.
    """
    if isinstance(select, np.ndarray):
        if select.shape != (len(table.labels),) or bool((select & table.clean).any()):
            raise ValueError("a mask must have one entry a row and select errored notes only")
        return select
    if isinstance(select, NoteClass):
        return _mask([label.note_class is select for label in table.labels]) & ~table.clean
    if isinstance(select, TraceLevel):
        return _mask([label.trace is select for label in table.labels])
    if isinstance(select, Severity):
        return _mask([label.severity is select for label in table.labels]) & ~table.clean
    masks = {
        "omission": table.omission,
        "commission": table.commission,
        "errored": ~table.clean,
    }
    if select not in masks:
        raise ValueError(f"selection {select!r} is none of {', '.join(masks)}")
    return masks[select]


def _mask(flags: list[bool]) -> BoolArray:
    return np.array(flags, dtype=np.bool_)
