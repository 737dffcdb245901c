"""What judging a note costs, in two framings that are never mixed.

Stages that belong to a consultation (extraction, audit, checklist) are bought once and serve all
its notes. `usd_per_note` charges them in full, as for a note that comes alone; the amortised figure
spreads them over the notes of this set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from heldout.splits.benchmark import NoteLabel
from heldout.students.calls.store_rows import StoredCall
from heldout.students.student import Judgement


class CallCosts(Protocol):
    """Gives back stored calls."""

    def get(self, key: str) -> StoredCall | None:
        """The call with this key."""


@dataclass(frozen=True, slots=True)
class NoteCosts:
    """Averages over all judgings. USD is None where a price is unknown, which is not 0."""

    usd_per_note: float | None
    usd_per_note_amortised: float | None
    tokens_per_note: float
    calls_per_note: float
    calls_per_note_amortised: float

    def to_json(self) -> dict[str, float | None]:
        """Both framings."""
        return {
            "usd_per_note": self.usd_per_note,
            "usd_per_note_amortised": self.usd_per_note_amortised,
            "tokens_per_note": self.tokens_per_note,
            "calls_per_note_amortised": self.calls_per_note_amortised,
        }


def note_costs(
    labels: Sequence[NoteLabel], runs: Sequence[Sequence[Judgement]], store: CallCosts
) -> NoteCosts:
    """Costs of `runs` (one sequence of judgements a replicate, in the order of `labels`).

    A call is charged as if this design had bought it, whoever did.
    """
    calls = {key: store.get(key) for run in runs for answer in run for key in answer.calls}
    found = {key: call for key, call in calls.items() if call is not None}
    if len(found) < len(calls):
        raise KeyError(next(key for key in calls if key not in found))
    consultations = {label.consultation for label in labels}
    shared = {key for key, call in found.items() if call.item in consultations}
    judgings = [answer.calls for run in runs for answer in run]
    n = len(judgings)
    own = [[key for key in keys if key not in shared] for keys in judgings]
    alone = [found[key] for keys in judgings for key in keys]
    bought = [found[key] for keys in own for key in keys]
    once = [found[key] for key in shared]
    return NoteCosts(
        usd_per_note=_over(_usd(alone), n),
        usd_per_note_amortised=_sum(_over(_usd(bought), n), _over(_usd(once), len(labels))),
        tokens_per_note=sum(call.reply.usage.total for call in alone) / n,
        calls_per_note=len(alone) / n,
        calls_per_note_amortised=len(bought) / n + len(once) / len(labels),
    )


def _usd(calls: Iterable[StoredCall]) -> float | None:
    """Their sum, None if a single price is unknown."""
    total = 0.0
    for call in calls:
        if call.reply.usd is None:
            return None
        total += call.reply.usd
    return total


def _over(total: float | None, n: int) -> float | None:
    return None if total is None else total / n


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second
