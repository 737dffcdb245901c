"""What judging costs, from stored calls: a note in two framings, and a judging in detail.

Stages that belong to a consultation (extraction, audit, checklist) are bought once and serve all
its notes. `usd_per_note` charges them in full, as for a note that comes alone; the amortised figure
spreads them over the notes of this set. The two are never mixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Protocol

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
    calls_per_note_amortised: float


@dataclass(frozen=True, slots=True)
class JudgingCost:
    """Means over judgings of one note, a consultation's own stages included in full.

    `reasoning_tokens` are part of `completion_tokens`. `usd` None: a price is unknown, which is not
    0. `latency_s`: the calls of a judging one after the other.
    """

    calls: float
    prompt_tokens: float
    completion_tokens: float
    reasoning_tokens: float
    usd: float | None
    latency_s: float

    def __add__(self, other: JudgingCost) -> JudgingCost:
        sums: list[Any] = list(map(_sum, astuple(self), astuple(other)))
        return JudgingCost(*sums)

    def times(self, share: float) -> JudgingCost:
        """The cost where only a share of the notes is judged."""
        shares: list[Any] = [None if v is None else v * share for v in astuple(self)]
        return JudgingCost(*shares)


def note_costs(
    labels: Sequence[NoteLabel], runs: Sequence[Sequence[Judgement]], store: CallCosts
) -> NoteCosts:
    """Costs of `runs` (one sequence of judgements a replicate, in the order of `labels`).

    A call is charged as if this design had bought it, whoever did. Raises KeyError for a call that
    is not stored.
    """
    judgings = [answer.calls for run in runs for answer in run]
    found = {key: _stored(key, store) for keys in judgings for key in keys}
    consultations = {label.consultation for label in labels}
    shared = {key for key, call in found.items() if call.item in consultations}
    n = len(judgings)
    alone = [found[key] for keys in judgings for key in keys]
    bought = [found[key] for keys in judgings for key in keys if key not in shared]
    once = [found[key] for key in shared]
    return NoteCosts(
        usd_per_note=_over(_usd(alone), n),
        usd_per_note_amortised=_sum(_over(_usd(bought), n), _over(_usd(once), len(labels))),
        tokens_per_note=sum(call.reply.usage.total for call in alone) / n,
        calls_per_note_amortised=len(bought) / n + len(once) / len(labels),
    )


def judging_cost(judgings: Sequence[Iterable[str]], store: CallCosts) -> JudgingCost:
    """The mean cost of `judgings`, each given as the keys of its calls.

    Raises KeyError for a call that is not stored, ValueError without judgings.
    """
    if not judgings:
        raise ValueError("the cost of no judging")
    found = [_stored(key, store) for keys in judgings for key in keys]
    n = len(judgings)
    return JudgingCost(
        calls=len(found) / n,
        prompt_tokens=sum(call.reply.usage.prompt for call in found) / n,
        completion_tokens=sum(call.reply.usage.completion for call in found) / n,
        reasoning_tokens=sum(call.reply.usage.reasoning for call in found) / n,
        usd=_over(_usd(found), n),
        latency_s=sum(call.latency_s for call in found) / n,
    )


def _stored(key: str, store: CallCosts) -> StoredCall:
    call = store.get(key)
    if call is None:
        raise KeyError(key)
    return call


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
