"""Can the winner be used as a flag? A ranking may be better and still flag nothing that matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from heldout.gepa.statistics.difference import note_difference
from heldout.gepa.statistics.intervals.interval import (
    NO_SPREAD,
    ClusterSums,
    Interval,
    cluster_interval,
    wilson,
)
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import allowed_flags
from heldout.gepa.statistics.table import BoolArray, ScoreTable
from heldout.gepa.statistics.tests.studentised import StudentisedFlip, sign_patterns

Unusable = Literal["no_threshold", "over_cap", "not_above_clean", "not_above_words"]

SAID: dict[Unusable, str] = {
    "no_threshold": "no threshold could be frozen on accept",
    "over_cap": "it flags more clean notes than the cap allows",
    "not_above_clean": "it is not shown to flag omissions more often than clean notes",
    "not_above_words": "counting words flags as many omissions",
}


@dataclass(frozen=True, kw_only=True)
class Usable:
    """Whether a block can serve as a flag at its frozen threshold, and the figures behind it.

    `reason` is the first ground against it. `above_clean`: share of omissions flagged minus
    that of clean notes, mean over consultations, at level 1 - 2 alpha. `above_words`: detection
    minus that of the word count at a threshold frozen in the same way. `flags_interval`: of the
    share of clean notes flagged.
    """

    usable: bool
    reason: Unusable | None
    detection: Count
    flags: Count
    allowed: int
    flags_interval: Interval | None = None
    above_clean: Interval | None = None
    above_words: Interval | None = None
    sentence: str


def usable(winner: Judged, words: Judged | None, *, cap: float, alpha: float, seed: int) -> Usable:
    """Judge `winner` at its threshold; `words` is the word count on the same notes, at its own.

    Detection exceeds the flags on clean notes by the studentised sign flip over consultations, one
    value each; the cap is tested in whole notes; the word count is exceeded by the point.
    """
    table = winner.tables[0]
    omissions, clean = int(table.omission.sum()), int(table.clean.sum())
    flagged = None
    if winner.threshold is not None:
        flagged = Judged(winner.tables, threshold=winner.threshold).flagged(table)
    if flagged is None:
        nothing = Count(0, omissions), Count(0, clean)
        return _told(nothing, allowed_flags(cap, clean), "no_threshold")
    counts = (
        Count(int(flagged[table.omission].sum()), omissions),
        Count(int(flagged[table.clean].sum()), clean),
    )
    above_clean = _above_clean(table, flagged, alpha, seed)
    above_words = _above_words(table, flagged, words, alpha)
    allowed = allowed_flags(cap, clean)
    reason: Unusable | None = None
    if above_words is not None and above_words.estimate <= 0:
        reason = "not_above_words"
    if above_clean is None or above_clean.low <= 0:
        reason = "not_above_clean"
    if counts[1].k > allowed:
        reason = "over_cap"
    return _told(counts, allowed, reason, above_clean, above_words)


def _told(
    counts: tuple[Count, Count],
    allowed: int,
    reason: Unusable | None,
    above_clean: Interval | None = None,
    above_words: Interval | None = None,
) -> Usable:
    detection, flags = counts
    figure = (
        f"at its frozen threshold it flags {detection.k} of {detection.n} omissions and "
        f"{flags.k} of {flags.n} clean notes ({allowed} allowed)"
    )
    head = "usable as a flag" if reason is None else f"not usable as a flag: {SAID[reason]}"
    beside = ""
    if above_words is not None:
        beside = (
            f"; against the word count {above_words.estimate:+.3f} "
            f"[{above_words.low:+.3f}, {above_words.high:+.3f}]"
        )
    return Usable(
        usable=reason is None,
        reason=reason,
        detection=detection,
        flags=flags,
        allowed=allowed,
        flags_interval=wilson(flags),
        above_clean=above_clean,
        above_words=above_words,
        sentence=f"{head}; {figure}{beside}",
    )


def _above_clean(table: ScoreTable, flagged: BoolArray, alpha: float, seed: int) -> Interval | None:
    """Detection minus flags on clean notes by consultation; None where none has notes of both."""
    groups = int(table.cluster.max()) + 1 if table.cluster.size else 0
    shares = []
    for rows in (table.omission, table.clean):
        number = np.bincount(table.cluster[rows], minlength=groups)
        hits = np.bincount(table.cluster[rows], weights=flagged[rows], minlength=groups)
        shares.append(np.where(number > 0, hits / np.maximum(number, 1), np.nan))
    gaps = shares[0] - shares[1]
    gaps = gaps[~np.isnan(gaps)]
    if not gaps.size:
        return None
    data = ClusterSums(gaps, np.ones(gaps.size))
    level = 1 - 2 * alpha
    if gaps.size < 2 or not float(data.standard_error) > NO_SPREAD:
        return cluster_interval(data, level=level)
    signs = sign_patterns(gaps.size, generator(seed, "gate", "usable"))
    return StudentisedFlip(data, signs).interval(level)


def _above_words(
    table: ScoreTable, flagged: BoolArray, words: Judged | None, alpha: float
) -> Interval | None:
    counted = None if words is None else words.flagged(table)
    if counted is None:
        return None
    ours, theirs = flagged.astype(np.int64), counted.astype(np.int64)
    return note_difference(table, table.omission, ours, theirs, (1, 1)).interval(1 - 2 * alpha)
