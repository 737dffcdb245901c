"""A threshold from a person's own clean notes.

A threshold is frozen on notes of one origin and moves with it: a block that scores nearly every
clean note of a benchmark at the top may score half of another vendor's clean notes lower. So it is
set again on clean notes from where it will be used.

The consultation is the unit. Notes of one consultation share a transcript and are no independent
draws, so the binomial bound counts one note of each, drawn by a hash of its id. The conformal
promise uses all of them, each consultation weighing the same (Lee, Barber and Willett 2023). In
both the promise is about a note drawn from a consultation drawn at random.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.experiments.practice.promises import (
    Need,
    Promise,
    advice,
    allowed_flags,
    needed,
    smallest_rate,
)
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.intervals.interval import Interval, cluster_wilson
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.table import DECIMALS, FloatArray
from heldout.splits.counted import counted
from heldout.splits.randomness import choice

AT_TOP = 0.2
"""Share of clean notes at the highest score from which on the report warns of it."""


@dataclass(frozen=True, slots=True)
class NoteScore:
    """The score of one note; None where the judge gave none, which is never flagged."""

    note: str
    consultation: str
    score: float | None
    kind: str = "clean"

    def below(self, threshold: float) -> bool:
        """True if the note is flagged: its score lies strictly below."""
        return self.score is not None and _rounded(self.score) < _rounded(threshold)


@dataclass(frozen=True)
class Detection:
    """What the threshold finds among errored notes of one kind; `interval` is by consultation."""

    kind: str
    found: Count
    interval: Interval | None


@dataclass(frozen=True)
class Calibration:
    """A threshold with what it promises.

    The flag is `score < threshold`; `threshold` None: the notes are too few for the promise.
    `consultations` are independent of each other; `flagged` counts over one note of each,
    `flagged_all_notes` over every clean note; `unscored` clean notes have no score. `sample` holds
    the scores the bound rests on, for a later drift check.
    """

    promise: Promise
    threshold: float | None
    consultations: int
    clean_notes: int
    unscored: int
    allowed: int | None
    flagged: Count
    flagged_all_notes: Count
    at_highest_score: Count
    detections: tuple[Detection, ...]
    sample: tuple[float | None, ...]

    @property
    def advice(self) -> tuple[Need, ...]:
        """How many consultations buy how sensitive a threshold."""
        return advice(self.promise)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a person must know, a line each."""
        return (*_headline(self), *_caveats(self))

    def to_json(self) -> dict[str, Any]:
        """Everything, scores included, text not."""
        found: dict[str, Any] = plain(self)
        del found["allowed"]
        return {
            **found,
            "promise": self.promise.to_json(),
            "rule": "flag a note whose score is below the threshold",
            "detections": {
                detection.kind: {
                    **plain(detection.found),
                    "interval": plain(detection.interval),
                }
                for detection in self.detections
            },
            "needed": needed(self.promise),
            "advice": plain(self.advice),
            "sentences": list(self.sentences),
        }


def calibrate(
    clean: Sequence[NoteScore], promise: Promise, errored: Sequence[NoteScore] = ()
) -> Calibration:
    """The highest threshold on a clean score that keeps `promise`; order of notes means nothing.

    Raises ValueError without clean notes.
    """
    if not clean:
        raise ValueError("calibration needs clean notes")
    sample = one_a_consultation(clean)
    allowed = allowed_flags(len(sample), promise)
    threshold = None if allowed is None else _threshold(clean, sample, allowed, promise)
    top = max((_rounded(n.score) for n in clean if n.score is not None), default=None)
    return Calibration(
        promise=promise,
        threshold=threshold,
        consultations=len(sample),
        clean_notes=len(clean),
        unscored=sum(note.score is None for note in clean),
        allowed=allowed,
        flagged=_flagged(sample, threshold),
        flagged_all_notes=_flagged(clean, threshold),
        at_highest_score=Count(
            sum(n.score is not None and _rounded(n.score) == top for n in clean), len(clean)
        ),
        detections=detections(errored, threshold),
        sample=tuple(note.score for note in sample),
    )


def one_a_consultation(notes: Iterable[NoteScore]) -> tuple[NoteScore, ...]:
    """One note of each consultation, drawn by a hash of consultation and note ids, never by score.

    Consultations stand in order of name.
    """
    groups: dict[str, dict[str, NoteScore]] = {}
    for note in notes:
        groups.setdefault(note.consultation, {})[note.note] = note
    return tuple(
        groups[name][choice(sorted(groups[name]), "calibration", name)] for name in sorted(groups)
    )


def detections(errored: Sequence[NoteScore], threshold: float | None) -> tuple[Detection, ...]:
    """Detection by kind of error, and of all together under `all`; nothing without notes."""
    if not errored:
        return ()
    kinds = sorted({note.kind for note in errored})
    parts = [("all", list(errored))]
    if len(kinds) > 1:
        parts += [(kind, [n for n in errored if n.kind == kind]) for kind in kinds]
    return tuple(
        Detection(kind, _flagged(notes, threshold), _interval(notes, threshold))
        for kind, notes in parts
    )


def _threshold(
    clean: Sequence[NoteScore], sample: Sequence[NoteScore], allowed: int, promise: Promise
) -> float | None:
    """The highest clean score with flags on no more than `allowed` consultations below it.

    Under the conformal promise a consultation counts by its flagged share. None where no clean note
    has a score.
    """
    counted = sample if promise.method == "binomial" else clean
    sizes = Counter(note.consultation for note in counted)
    weights = np.array([1 / sizes[note.consultation] for note in counted])
    scores, grid = _scores(counted), np.unique(_scores(clean))
    order = np.argsort(scores)
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    within = below[np.searchsorted(scores[order], grid, side="left")] <= allowed + 1e-9
    possible = grid[within & np.isfinite(grid)]
    return float(possible[-1]) if possible.size else None


def _scores(notes: Sequence[NoteScore]) -> FloatArray:
    """Scores as they are compared, infinite where there is none, shape (notes,)."""
    return np.array([np.inf if n.score is None else _rounded(n.score) for n in notes])


def _flagged(notes: Sequence[NoteScore], threshold: float | None) -> Count:
    flagged = 0 if threshold is None else sum(note.below(threshold) for note in notes)
    return Count(flagged, len(notes))


def _interval(notes: Sequence[NoteScore], threshold: float | None) -> Interval | None:
    if threshold is None:
        return None
    names = sorted({note.consultation for note in notes})
    flags = np.array([note.below(threshold) for note in notes], dtype=np.float64)
    cluster = np.array([names.index(note.consultation) for note in notes], dtype=np.int64)
    return cluster_wilson(flags, cluster)


def _headline(found: Calibration) -> list[str]:
    if found.threshold is not None:
        return [f"flag a note that scores below {found.threshold:g}: {found.promise.words}"]
    if found.allowed is not None:
        return ["no clean note has a score, so there is nothing to set a threshold on"]
    lines = [
        f"{counted(found.consultations, 'consultation')} with clean notes: too few, no "
        "threshold keeps "
        f"the promise that {found.promise.words}; it takes at least {needed(found.promise)}"
    ]
    if found.promise.method == "binomial":
        rate = smallest_rate(found.consultations, found.promise.confidence)
        lines.append(
            f"so many can promise at best {100 * rate:.1f}% false alarms at this confidence"
        )
    return lines


def _caveats(found: Calibration) -> list[str]:
    lines = []
    if found.threshold is not None:
        flagged, every = found.flagged, found.flagged_all_notes
        lines.append(
            f"on these notes it flags {flagged.k} of {flagged.n} (one a consultation)"
            + (f", {every.k} of {every.n} clean notes in all" if every.n > flagged.n else "")
        )
    if found.promise.method == "conformal":
        lines.append(
            "the conformal promise is weaker than the binomial bound: it holds on average over "
            "calibrations, and about half of them flag more than the target"
        )
    if found.unscored:
        lines.append(
            f"without a score, counted as not flagged: {counted(found.unscored, 'clean note')}"
        )
    top = found.at_highest_score
    if top.k >= AT_TOP * top.n:
        lines.append(
            f"{top.k} of {top.n} clean notes share the highest score; a "
            "threshold that relies on such a share moves most when the notes change"
        )
    lines.append(
        "it holds for notes like these, judged with the same block, model, budget and samples; "
        "check a later batch for drift"
    )
    return lines


def _rounded(score: float) -> float:
    return round(score, DECIMALS)
