"""Can the winner be used as a flag? A block may rank better and still flag nothing that matters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from heldout.gepa.gate.rules import Rule
from heldout.gepa.statistics.difference import Difference, note_difference
from heldout.gepa.statistics.intervals.interval import Interval, cluster_wilson
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import allowed_flags
from heldout.gepa.statistics.selection import PairKind, rows_of
from heldout.gepa.statistics.table import BoolArray, ScoreTable

Unusable = Literal["no_look", "no_threshold", "over_cap", "not_above_clean", "not_above_words"]

GROUNDS: dict[Unusable, str] = {
    "no_look": "held-out was not looked at for it",
    "no_threshold": "no threshold could be frozen on accept",
    "over_cap": "it flags more clean notes than the cap allows",
    "not_above_clean": "it is not shown to flag {errors} more often than clean notes",
    "not_above_words": "counting words flags as many {errors}",
}


@dataclass(frozen=True, kw_only=True)
class Usable:
    """Whether a block can serve as a flag at its frozen threshold, and the figures behind it.

    `reason` is the first ground against it, None where there is none. `detection` and `flags` are
    counts at the threshold, `allowed` how many clean notes the cap lets it flag; the intervals of
    the two shares are Wilson's, with consultations as the unit. `above_clean` is detection minus
    flags on the same notes' clean twins, at the level of the gate, with its one-sided `p`.
    `above_words` is detection minus that of the word count at a threshold frozen in the same way.
    Figures are None without a look or a threshold.
    """

    usable: bool
    reason: Unusable | None
    detection: Count | None = None
    flags: Count | None = None
    allowed: int | None = None
    detection_interval: Interval | None = None
    flags_interval: Interval | None = None
    above_clean: Interval | None = None
    p: float | None = None
    above_words: Interval | None = None
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class FlagTest:
    """How a flag is tested: the errors that it is for, its cap, the rule and level of the test."""

    pairs: PairKind
    cap: float
    alpha: float
    rule: Rule

    def usable(self, winner: Judged, words: Judged | None) -> Usable:
        """Judge `winner` at its threshold; `words` is the word count on the same notes."""
        table = winner.tables[0]
        flagged = winner.frozen_flags(table)
        if flagged is None:
            return self._told(Usable(usable=False, reason="no_threshold"))
        rows, level = rows_of(table, self.pairs), 1 - 2 * self.alpha
        flags = _count(flagged, table.clean)
        twins = _flag_difference(table, rows, flagged, flagged[table.twin])
        verdict = self.rule.verdict(twins, alpha=self.alpha, margin=0.0)
        counted = None if words is None else words.frozen_flags(table)
        against = None if counted is None else _flag_difference(table, rows, flagged, counted)
        found = Usable(
            usable=False,
            reason=None,
            detection=_count(flagged, rows),
            flags=flags,
            allowed=allowed_flags(self.cap, flags.n),
            detection_interval=_share(table, flagged, rows, level),
            flags_interval=_share(table, flagged, table.clean, level),
            above_clean=verdict.interval or twins.interval(level),
            p=verdict.p,
            above_words=None if against is None else against.interval(level),
        )
        reason = _ground(found, above_clean=verdict.ships)
        return self._told(replace(found, usable=reason is None, reason=reason))

    def _told(self, found: Usable) -> Usable:
        return replace(found, sentence=_sentence(found, f"{self.pairs}s"))


NO_LOOK = Usable(
    usable=False,
    reason="no_look",
    sentence=f"not shown to be usable as a flag: {GROUNDS['no_look']}",
)
"""Of a winner that was never judged on held-out."""


def _ground(found: Usable, *, above_clean: bool) -> Unusable | None:
    if found.flags is not None and found.flags.k > (found.allowed or 0):
        return "over_cap"
    if not above_clean:
        return "not_above_clean"
    words = found.above_words
    return "not_above_words" if words is not None and words.estimate <= 0 else None


def _sentence(found: Usable, errors: str) -> str:
    parts = ["usable as a flag"]
    if found.reason is not None:
        parts = [f"not usable as a flag: {GROUNDS[found.reason].format(errors=errors)}"]
    detection, flags = found.detection, found.flags
    if detection is not None and flags is not None:
        parts.append(
            f"at its frozen threshold it flags {detection.k} of {detection.n} {errors}"
            f"{_ends(found.detection_interval)} and {flags.k} of {flags.n} clean notes"
            f"{_ends(found.flags_interval)}, {found.allowed} allowed"
        )
    for whom, above in (("its clean twins", found.above_clean), ("words", found.above_words)):
        if above is not None:
            parts.append(
                f"above {whom} by {above.estimate:+.3f} [{above.low:+.3f}, {above.high:+.3f}]"
            )
    return "; ".join(parts)


def _ends(rate: Interval | None) -> str:
    return "" if rate is None else f" [{rate.low:.3f}, {rate.high:.3f}]"


def _share(table: ScoreTable, flagged: BoolArray, rows: BoolArray, level: float) -> Interval | None:
    return cluster_wilson(flagged[rows].astype(np.float64), table.cluster[rows], level=level)


def _count(flagged: BoolArray, rows: BoolArray) -> Count:
    return Count(int(flagged[rows].sum()), int(rows.sum()))


def _flag_difference(
    table: ScoreTable, rows: BoolArray, ours: BoolArray, theirs: BoolArray
) -> Difference:
    """Flags of one kind minus flags of another, note by note of `rows`."""
    credits = ours.astype(np.int64), theirs.astype(np.int64)
    return note_difference(table, rows, *credits, (1, 1))
