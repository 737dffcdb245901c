"""The threshold of a block, frozen on accept as the block will be judged on held-out.

A threshold that was swept on single judgings says nothing of means of several, and the other way
round. So where confirmation judges a note more often than the search did, accept is judged again at
the settings of the confirmation, before the look is opened. Samples that the search has bought are
not bought again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from heldout.gepa.candidates import Candidate
from heldout.gepa.evaluation import Evaluator, Occasion
from heldout.gepa.gate.outcome import measures_of
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.settings import ConfirmSettings
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import Measures
from heldout.gepa.statistics.rates.detection import swept
from heldout.gepa.statistics.selection import PairKind
from heldout.splits.benchmark import Note


@dataclass(frozen=True)
class Frozen:
    """A block on accept: its scores at the threshold that their sweep freezes, its own flags."""

    judged: Judged
    flags: tuple[Mapping[str, bool], ...] | None

    def measures(self, cap: float) -> Measures:
        """Its figures on accept."""
        return measures_of(self.judged, self.flags, cap)


@dataclass(frozen=True)
class Freezer:
    """Freezes thresholds: detection of `pairs` at most `cap` of clean notes flagged."""

    cap: float
    pairs: PairKind

    def of_search(self, candidate: Candidate) -> Frozen:
        """A candidate as the search has judged it."""
        assert candidate.accept is not None  # entered candidates are scored on accept
        flags = None if candidate.flags is None else (candidate.flags,)
        return self._frozen(Judged.once(candidate.accept), flags)

    def at_confirm(
        self,
        candidate: Candidate,
        accept: tuple[Note, ...],
        evaluator: Evaluator,
        confirm: ConfirmSettings,
    ) -> Frozen:
        """A candidate judged on accept at the confirm settings."""
        assert candidate.block is not None  # entered candidates keep their text
        evaluations = [
            evaluator.judge(
                candidate.block,
                accept,
                Occasion(Purpose.THRESHOLD, "accept", candidate.id, replicate=replicate),
                samples=confirm.samples,
            )
            for replicate in range(confirm.replicates)
        ]
        flags = [evaluation.flags for evaluation in evaluations]
        tables = tuple(evaluator.left_out.table(e.table) for e in evaluations)
        return self._frozen(
            Judged(tables), None if None in flags else tuple(f for f in flags if f is not None)
        )

    def _frozen(self, judged: Judged, flags: tuple[Mapping[str, bool], ...] | None) -> Frozen:
        threshold = swept(judged.majority, self.cap, self.pairs).threshold
        return Frozen(replace(judged, threshold=threshold), flags)
