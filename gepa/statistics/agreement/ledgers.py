"""The four-ledger audit: what a reviewed list of a detector's proposals can and cannot show.

A reviewer confirms or rejects proposals, and adds what was missed, on the targets that were
reviewed. A naive scorer calls the confirmed share of proposals precision and the confirmed share of
the final ledger recall. Neither is identified: proposals on unreviewed targets are unknown, and the
additions were found with the proposals in view.
"""

from __future__ import annotations

from dataclasses import dataclass

from heldout.gepa.statistics.intervals.interval import Interval, wilson
from heldout.gepa.statistics.rates.counts import Count

NOT_IDENTIFIABLE = "not identifiable"


@dataclass(frozen=True, slots=True)
class Ledgers:
    """Counts of one audit: proposals planted in all, of which confirmed and rejected; additions."""

    confirmed: int
    rejected: int
    added: int
    planted: int
    targets_reviewed: int
    targets: int

    def __post_init__(self) -> None:
        if self.confirmed + self.rejected > self.planted or self.targets_reviewed > self.targets:
            raise ValueError("more was reviewed than there was")

    @property
    def proposal_yield(self) -> Count:
        """Confirmed of the proposals with a disposition; what the naive scorer calls precision."""
        return Count(self.confirmed, self.confirmed + self.rejected)

    @property
    def ledger_share(self) -> Count:
        """Confirmed proposals in the final ledger; what the naive scorer calls recall."""
        return Count(self.confirmed, self.confirmed + self.added)

    def yield_interval(self, *, level: float = 0.95) -> Interval | None:
        """Wilson's interval of the yield, for the reviewed proposals only."""
        return wilson(self.proposal_yield, level=level)

    @property
    def yield_bounds(self) -> tuple[float, float] | None:
        """Yield over all planted proposals if every unreviewed one were rejected, or confirmed."""
        if not self.planted:
            return None
        return (self.confirmed / self.planted, (self.planted - self.rejected) / self.planted)

    @property
    def additions_per_target(self) -> float | None:
        """Additions a reviewed target; None without reviewed targets."""
        return self.added / self.targets_reviewed if self.targets_reviewed else None

    @property
    def precision(self) -> str:
        """Always «not identifiable»: dispositions are missing and were not blind."""
        return NOT_IDENTIFIABLE

    @property
    def recall(self) -> str:
        """Always «not identifiable»: nobody knows what neither side found."""
        return NOT_IDENTIFIABLE
