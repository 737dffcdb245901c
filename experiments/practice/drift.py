"""Does a calibrated threshold still hold for a later batch of notes?

Clean notes answer directly: are more of them flagged than promised? A batch whose notes nobody
checked cannot, since a flag there may be right; then only a shift of the scores can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from heldout.experiments.practice.calibration import Calibration, NoteScore, one_a_consultation
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.rates.counts import Count

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Drift:
    """A later batch beside the calibration.

    `over_target_p`: probability of at least so many flags if the share were at the target (exact
    binomial, one-sided), None for unchecked notes. `scores_p`: two-sided Kolmogorov-Smirnov test
    of the scores against those of the calibration. `would_show`: the lowest true share that such a
    batch reveals with 80% power, None where none does. All count one note a consultation.
    """

    target: float
    level: float
    flagged: Count
    over_target_p: float | None
    scores_p: float
    would_show: float | None

    @property
    def exceeds(self) -> bool:
        """True if the batch shows that more clean notes are flagged than promised."""
        return self.over_target_p is not None and self.over_target_p < self.level

    @property
    def moved(self) -> bool:
        """True if the scores are shown to have moved."""
        return self.scores_p < self.level

    @property
    def sentences(self) -> tuple[str, ...]:
        """The finding for a person, a line each."""
        return tuple(_sentences(self))

    def to_json(self) -> dict[str, Any]:
        """Stable keys."""
        found: dict[str, Any] = plain(self)
        more = {"exceeds": self.exceeds, "moved": self.moved, "sentences": list(self.sentences)}
        return {**found, **more}


def check_drift(calibrated: Calibration, later: Sequence[NoteScore], *, clean: bool) -> Drift:
    """`later` beside the calibration.

    `clean`: the later notes were checked and are clean. Raises ValueError without notes, or where
    the calibration found no threshold.
    """
    threshold, promise = calibrated.threshold, calibrated.promise
    if threshold is None or not later:
        raise ValueError("drift needs a threshold and later notes")
    target = promise.false_alarms
    level = 1 - (0.95 if promise.method == "conformal" else promise.confidence)
    sample = one_a_consultation(later)
    flagged = Count(sum(note.below(threshold) for note in sample), len(sample))
    over = float(scipy.stats.binom.sf(flagged.k - 1, flagged.n, target)) if clean else None
    return Drift(
        target=target,
        level=level,
        flagged=flagged,
        over_target_p=over,
        scores_p=_moved(calibrated.sample, [note.score for note in sample]),
        would_show=_would_show(flagged.n, target, level) if clean else None,
    )


def _moved(before: Sequence[float | None], now: Sequence[float | None]) -> float:
    """Two-sided p; a missing score counts as one above all others, as it does for flags."""
    both = [s for s in (*before, *now) if s is not None]
    top = max(both, default=0.0) + 1
    first, second = (np.array([top if s is None else s for s in batch]) for batch in (before, now))
    return float(scipy.stats.ks_2samp(first, second).pvalue)


def _would_show(n: int, target: float, level: float) -> float | None:
    """The lowest share, in whole per cents above the target, that the test finds with 80% power."""
    critical = int(scipy.stats.binom.isf(level, n, target)) + 1
    shares = [target + step / 100 for step in range(1, 100) if target + step / 100 <= 1]
    return next(
        (round(s, 4) for s in shares if scipy.stats.binom.sf(critical - 1, n, s) >= POWER), None
    )


def _sentences(drift: Drift) -> list[str]:
    k, n = drift.flagged.k, drift.flagged.n
    share = f"{k} of {n} notes (one a consultation) are flagged"
    if drift.over_target_p is None:
        lines = [f"{share}; whether rightly cannot be said of notes that nobody checked"]
    elif drift.exceeds:
        lines = [
            f"{share}: more than the promised {100 * drift.target:g}% "
            f"(p = {drift.over_target_p:.2g}); calibrate again on notes like these"
        ]
    else:
        lines = [f"{share}: the promised {100 * drift.target:g}% is not shown to be exceeded"]
        shows = drift.would_show
        if shows is None:
            lines.append("no true share would show itself in a batch of this size")
        else:
            lines.append(f"a true share of {100 * shows:.0f}% or more would probably have shown")
    moved = "have moved" if drift.moved else "are not shown to have moved"
    lines.append(f"the scores {moved} since the calibration (p = {drift.scores_p:.2g})")
    return lines
