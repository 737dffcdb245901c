"""The ledger: what a run has spent, and the hard caps it may not pass.

Every call reserves its largest possible cost before it is sent; when it is back the real one is
charged and the reservation given back. Nothing here is saved: after a kill the ledger is charged
again with the calls in the store.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from heldout.splits.errors import Fault, HardCapReached
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.store_rows import StoredCall
from heldout.students.models.chat import ModelPin, cost_usd, prompt_tokens_bound


class Role(StrEnum):
    """Who a call is for."""

    STUDENT = "student"
    REFLECTOR = "reflector"
    RETRY = "retry"


def role_of(stage: Stage, attempt: int) -> Role:
    """The role a call is booked under; a targeted retry is booked as a retry, whoever asked."""
    if attempt or stage is Stage.RETRY:
        return Role.RETRY
    return Role.REFLECTOR if stage.keeps_messages or stage is Stage.READY else Role.STUDENT


@dataclass(frozen=True, slots=True)
class Caps:
    """Hard limits of a run, `budget.*`; None means none. `wall_s` counts over all sessions."""

    usd: float | None = None
    calls: int | None = None
    tokens: int | None = None
    wall_s: float | None = None

    @property
    def none(self) -> bool:
        """True if nothing is capped."""
        return self == Caps()


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount to reserve or to hold: USD, calls, tokens (all >= 0)."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.usd - other.usd)


@dataclass(slots=True)
class Totals:
    """What was spent. `usd` is None once any call had no known price.

    `reasoning` is part of `completion`, `cached` part of `prompt`; `reused` counts calls that
    another run had bought, which cost this run nothing, `estimated` calls whose tokens were
    counted here.
    """

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    cached: int = 0
    usd: float | None = 0.0
    reused: int = 0
    estimated: int = 0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt + self.completion

    def add(self, stored: StoredCall) -> None:
        """Book one call."""
        if stored.origin is not None:
            self.reused += 1
            return
        usage, usd = stored.reply.usage, stored.reply.usd
        self.calls += 1
        self.prompt += usage.prompt
        self.completion += usage.completion
        self.reasoning += usage.reasoning
        self.cached += usage.cached
        self.estimated += usage.estimated
        self.usd = None if self.usd is None or usd is None else self.usd + usd


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one call in flight may still cost."""

    role: Role
    amount: Amount


@dataclass
class _Account:
    caps: Caps
    totals: Totals = field(default_factory=Totals)
    reserved: Amount = field(default_factory=Amount)
    held: Amount = field(default_factory=Amount)

    def blocked(self, need: Amount, reserved: Amount) -> tuple[str, float] | None:
        """The cap that `need` would pass, were `reserved` spent as well."""
        usd = self.totals.usd or 0.0
        spent = Amount(self.totals.calls, self.totals.tokens, usd) + reserved + self.held + need
        for name, cap, value in (
            ("usd", self.caps.usd, spent.usd),
            ("calls", self.caps.calls, spent.calls),
            ("tokens", self.caps.tokens, spent.tokens),
        ):
            # A cent's millionth of slack: sums of prices are floats.
            if cap is not None and value > cap + 1e-9:
                return name, cap
        return None


class Ledger:
    """One ledger for student, reflector and retries of a run, or of several under one total cap.

    `caps` are for everything together, `role_caps` for single roles. `clock` gives seconds that
    never run backwards.
    """

    def __init__(
        self,
        caps: Caps,
        *,
        role_caps: Mapping[Role, Caps] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._whole = _Account(caps)
        self._roles = {role: _Account((role_caps or {}).get(role, Caps())) for role in Role}
        self._capped = not caps.none or any(not a.caps.none for a in self._roles.values())
        self._charged: set[tuple[str, str]] = set()
        self._clock, self._started, self._before_s = clock, clock(), 0.0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def caps(self) -> Caps:
        """The caps for everything together."""
        return self._whole.caps

    @property
    def totals(self) -> Totals:
        """What was spent in all."""
        return self._whole.totals

    def by_role(self, role: Role) -> Totals:
        """What was spent for `role`."""
        return self._roles[role].totals

    @property
    def wall_s(self) -> float:
        """Seconds the run has been going, over all its sessions up to their last stored call."""
        return self._before_s + self._clock() - self._started

    @property
    def left_s(self) -> float:
        """Seconds until `budget.wall_s`, infinite without one."""
        limit = self.caps.wall_s
        return math.inf if limit is None else limit - self.wall_s

    def check_time(self) -> None:
        """Raise HardCapReached once `budget.wall_s` is over."""
        limit = self.caps.wall_s
        if limit is not None and self.left_s <= 0:
            raise HardCapReached("wall_s", limit)

    def charge(self, stored: StoredCall) -> bool:
        """Book a stored call; False if it was booked before. Never counts a call twice."""
        mark = (stored.run_id, stored.key)
        if mark in self._charged:
            return False
        self._charged.add(mark)
        self._whole.totals.add(stored)
        self._roles[role_of(Stage(stored.stage), stored.attempt)].totals.add(stored)
        return True

    def restore(self, calls: Iterable[StoredCall]) -> None:
        """Book what earlier sessions spent, wall time included; once for each run of this ledger.

        Runs under one ledger are on one clock, so their times are not summed.
        """
        for stored in calls:
            self.charge(stored)
            self._before_s = max(self._before_s, stored.elapsed_s)

    def hold(self, amount: Amount) -> None:
        """Keep `amount` (the confirmation) out of reach until `release`; replaces the last hold."""
        self._whole.held = amount

    def release(self) -> None:
        """Let calls use what was held."""
        self._whole.held = Amount()
        self._wake()

    def reserve(self, spec: CallSpec) -> Reservation | None:
        """Set aside the largest cost of `spec`; None while only calls in flight stand in the way.

        Raises HardCapReached where the call would not fit even if those cost nothing.
        """
        role = role_of(spec.stage, spec.attempt)
        reservation = Reservation(role, ceiling(spec) if self._capped else Amount())
        if self._capped:
            if not self._fits(reservation):
                return None
            self._move(reservation, reservation.amount)
        return reservation

    async def changed(self) -> None:
        """Wait until a reservation or the hold is given back."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def refund(self, reservation: Reservation) -> None:
        """Give a reservation back: its call is charged, or did not happen."""
        if self._capped:
            self._move(reservation, Amount() - reservation.amount)
            self._wake()

    def _fits(self, reservation: Reservation) -> bool:
        self.check_time()
        for prefix, account in (("", self._whole), *self._named_accounts(reservation.role)):
            if account.blocked(reservation.amount, account.reserved) is None:
                continue
            hopeless = account.blocked(reservation.amount, Amount())
            if hopeless:
                raise HardCapReached(prefix + hopeless[0], hopeless[1])
            return False
        return True

    def _named_accounts(self, role: Role) -> tuple[tuple[str, _Account], ...]:
        account = self._roles[role]
        return () if account.caps.none else ((f"{role}.", account),)

    def _move(self, reservation: Reservation, amount: Amount) -> None:
        for account in (self._whole, self._roles[reservation.role]):
            account.reserved = account.reserved + amount

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)


def ceiling(spec: CallSpec) -> Amount:
    """The most `spec` can cost: its prompt's bound and a reply up to the cap, uncached."""
    prompt, completion = prompt_tokens_bound(spec.messages), spec.budget.max_tokens
    usd = cost_usd(spec.pin, prompt, completion)
    return Amount(1, prompt + completion, usd or 0.0)


def price_faults(pins: Mapping[str, ModelPin], caps: Caps, where: str = "budget") -> list[Fault]:
    """What is wrong with a USD cap beside these models (role name to pin): an unknown price.

    `where` is the section of the configuration that holds the caps.
    """
    if caps.usd is None:
        return []
    return [
        Fault(
            f"{role}.model {pin.id}",
            f"its price is unknown, so {where}.usd = {caps.usd:g} cannot be kept; give its prices "
            f"in the pins file, or cap {where}.tokens or {where}.calls instead",
        )
        for role, pin in pins.items()
        if not pin.priced
    ]
