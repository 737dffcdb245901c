"""Side conditions: measures that must not be shown to have got worse.

A condition refuses when its interval lies wholly beyond its margin. Where the interval reaches
beyond the margin without lying there, the data could not have seen the harm, and it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np

from heldout.gepa.statistics.declared import Direction, declared
from heldout.gepa.statistics.difference import Difference, difference, note_difference
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.judged import Judged


class SideState(StrEnum):
    """What the data say about harm on one measure."""

    CLEARED = "cleared"
    HARM = "harm"
    NOT_RESOLVABLE = "not_resolvable"


@dataclass(frozen=True, slots=True)
class SideVerdict:
    """One side condition.

    `interval` is candidate minus baseline, None where nothing could be compared. `reach` is the
    largest harm the data cannot exclude, in the measure's harmful direction (positive is worse).
    """

    measure: str
    state: SideState
    margin: float
    n: int
    consultations: int
    interval: Interval | None
    reach: float | None
    sentence: str
    """One line for a person."""


PairedSide = Literal["omissions", "commissions"]


def side_differences(
    candidate: Judged, baseline: Judged, *, paired_side: PairedSide
) -> dict[str, Difference | None]:
    """Candidate minus baseline of every side measure, None where it has no fixed rule.

    `paired_side` is `commissions` or `omissions`, whichever is not the primary measure. Detection
    is of omissions and, like false alarms, at the design's rule or the accept-frozen threshold.
    """
    like = candidate.tables[0]
    ours, theirs = candidate.flagged(like), baseline.flagged(like)
    runs = (len(candidate.tables), len(baseline.tables))
    every_note = np.ones(len(like.labels), dtype=np.bool_)
    found: dict[str, Difference | None] = {
        paired_side: difference(
            candidate.tables,
            baseline.tables,
            "commission" if paired_side == "commissions" else "omission",
        ),
        "false_alarms": None,
        "violations": note_difference(
            like, every_note, candidate.unanswered(like), baseline.unanswered(like), runs
        ),
        "detection": None,
    }
    if ours is not None and theirs is not None:
        flags = (ours.astype(np.int64), theirs.astype(np.int64), (1, 1))
        found["false_alarms"] = note_difference(like, like.clean, *flags)
        found["detection"] = note_difference(like, like.omission, *flags)
    return found


def side_verdict(
    measure: str, data: Difference | None, *, margin: float, level: float
) -> SideVerdict:
    """Judge one side measure with a two-sided interval at `level`."""
    interval = data.interval(level) if data is not None else None
    if data is None or interval is None:
        sentence = f"{_named(measure)}: not resolvable, nothing to compare ({_support(0, 0)})"
        state = SideState.NOT_RESOLVABLE
        return SideVerdict(measure, state, margin, 0, 0, None, None, sentence)
    less = declared(measure).direction is Direction.HIGHER
    shown = -interval.high if less else interval.low
    reach = -interval.low if less else interval.high
    state = SideState.NOT_RESOLVABLE
    if shown > margin:
        state = SideState.HARM
    elif reach <= margin:
        state = SideState.CLEARED
    support = _support(data.n, data.consultations)
    figure = f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"
    said = {
        SideState.HARM: f"harm beyond the margin of {margin:g} is shown ({support})",
        SideState.CLEARED: f"harm beyond {margin:g} is excluded ({support})",
        SideState.NOT_RESOLVABLE: f"not resolvable with {support}; a harm of {reach:.3f} fits",
    }[state]
    sentence = f"{_named(measure)}: {figure}, {said}"
    return SideVerdict(
        measure, state, margin, data.n, data.consultations, interval, reach, sentence
    )


def _named(measure: str) -> str:
    return measure.replace("_", " ")


def _support(n: int, consultations: int) -> str:
    return f"n = {n} in {consultations} consultations"


def side_verdicts(
    differences: Mapping[str, Difference | None], margins: Mapping[str, float], *, level: float
) -> tuple[SideVerdict, ...]:
    """Judge every side measure; raises KeyError for a measure without a margin."""
    return tuple(
        side_verdict(measure, data, margin=margins[measure], level=level)
        for measure, data in differences.items()
    )
