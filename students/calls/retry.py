"""When a failed request is sent again, and when everything has failed for too long."""

from __future__ import annotations

import time
from dataclasses import dataclass

from heldout.splits.errors import CircuitOpen, InfrastructureFailure
from heldout.splits.randomness import uniform

CONCURRENCY = 32
"""Requests in flight at each provider, where nobody says otherwise.

Twice the notes of a minibatch: parent, proposal, child and accept each wait about one latency
(docs/performance.md). No figure depends on it.
"""


PROVIDERS = frozenset({"rate_limit", "connect"})
"""Faults that say something of the provider and nothing of the question."""

OF_ONE_ITEM = frozenset({"context_window", "bad_request"})
"""Refusals that concern one question; others, such as a rejected key, would meet every one."""

FIRST_REFUSALS = 3
"""So many questions refused before one was answered are refused for what all of them share."""


def is_own(error: InfrastructureFailure) -> bool:
    """True for a fault that may be the question's own: the provider is there and not too busy."""
    return error.kind not in PROVIDERS and error.retry_after is None


@dataclass(frozen=True, slots=True)
class Retry:
    """How a call is asked again after a fault; all times in seconds.

    A call gives up after `deadline_s` of asking and waiting, one request after `request_s`. Waits
    grow from `base_s` by doubling up to `longest_s`, each scaled by a factor in [0.5, 1) drawn from
    the call's key, and are never shorter than the server asked for. A question about a note is set
    aside sooner once the provider has answered another: after `item_failures` faults of its own, or
    `item_s` spent on them. The breaker opens after `breaker_failures` requests in a row failed, the
    first of them at least `breaker_s` ago.
    """

    deadline_s: float = 600.0
    request_s: float = 180.0
    base_s: float = 0.5
    longest_s: float = 30.0
    item_failures: int = 8
    item_s: float = 300.0
    breaker_failures: int = 20
    breaker_s: float = 20.0

    def wait_s(self, key: str, failures: int, retry_after: float | None) -> float:
        """How long to wait after the call's `failures`-th fault (from 1)."""
        jitter = 0.5 + uniform(key, "backoff", failures) / 2
        drawn = jitter * min(self.longest_s, self.base_s * 2.0 ** min(failures - 1, 30))
        # Everyone who was told the same time would come back at the same moment.
        return drawn if retry_after is None else max(drawn, retry_after + self.base_s * jitter)


class Breaker:
    """Counts failures in a row; once open it stays open.

    It tells an outage from items that fail by themselves: once a provider has answered, a question
    counts only while nothing else was answered since it was first sent, and one about a note at
    most for a fifth of what opens the breaker.
    """

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._streak, self._since = 0, 0.0
        self._open: tuple[int, str] | None = None

    @property
    def most_of_one_item(self) -> int:
        """How many failures of one note's question count."""
        return max(1, self._retry.breaker_failures // 5)

    def check(self) -> None:
        """Raise CircuitOpen if it is open."""
        if self._open:
            raise CircuitOpen(*self._open)

    def succeeded(self) -> None:
        """A reply came back."""
        self._streak = 0

    def failed(self, error: InfrastructureFailure) -> None:
        """A request failed for a reason that may pass, and that is not the item's own."""
        now = time.monotonic()
        if self._streak == 0:
            self._since = now
        self._streak += 1
        if now - self._since >= self._retry.breaker_s:
            self.gave_up(error)

    def gave_up(self, error: InfrastructureFailure) -> None:
        """A call has used up its deadline: no burst, however soon that was."""
        if self._streak >= self._retry.breaker_failures:
            self._open = (self._streak, str(error))
