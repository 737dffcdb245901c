"""What a campaign has spent, settled in commit order.

The hard caps live in the ledger, which sees calls as they happen. This account sees them when
their results are committed, in an order that concurrency cannot change, so that search limits
stop every run of one configuration at the same iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls, tokens (read and written) and USD; `usd` is None once a price was unknown."""

    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Spent(self.calls + other.calls, self.tokens + other.tokens, usd)

    def rounded(self) -> Spent:
        """As it stands in the journal: USD to a millionth of a cent."""
        return replace(self, usd=None if self.usd is None else round(self.usd, 8))


CostOf = Callable[[str], Spent]
"""Cost of one stored call, by its key."""


class Spending:
    """The account of one campaign; every call counts once, however many results used it."""

    def __init__(self, cost_of: CostOf) -> None:
        self._cost_of = cost_of
        self._settled: set[str] = set()
        self.total = Spent()
        self.judgements = 0

    def settle(self, keys: Iterable[str]) -> Spent:
        """Add the calls not settled before; return what they cost."""
        added = Spent()
        for key in keys:
            if key not in self._settled:
                self._settled.add(key)
                added = added + self._cost_of(key)
        self.total = self.total + added
        return added
