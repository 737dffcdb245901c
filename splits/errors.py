"""Every error Heldout raises on purpose, and the exit status each ends in.

HeldoutError
├── UserFault                 exit 2   a person can fix it; printed one line a fault, no traceback
│   ├── BadInput                       a file, an option or a config value is ill-formed
│   ├── LooksSpent                     every planned look was opened by other runs
│   ├── JournalMismatch                re-execution produced another event than the journal holds
│   ├── CallMissing                    a replay needs a call that no store holds
│   ├── RefusedAtStart                 the provider refused before it had answered anything
│   └── JournalBroken                  a line breaks the hash chain (`verify` ends with 1 for it)
├── Stopped                   exit 3   resumable: a hard cap, a signal or a stop file
│   ├── HardCapReached
│   ├── StopRequested
│   └── StoreUnavailable               the call store cannot be written: disk full, locked, gone
├── CallRefused               exit 4   resumable: the provider says this request can never succeed
├── CircuitOpen               exit 4   resumable: infrastructure failed again and again
└── InfrastructureFailure     exit 4   one call did not come back within its deadline; never scored
    ├── Unanswered                     so for one item, while others are answered
    └── NotesUnanswered                a campaign stopped because of such items
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heldout.splits.counted import counted

FEW = 3
"""Faults of one kind that are printed one by one."""

_LINE = re.compile(r":(\d+)(?=:|$)")
_VALUE = re.compile(r"'[^']*'|«[^»]*»|\d+")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with an input.

    `where` names the file (with line and field) or the option; `message` says what is wrong with
    it and what would be right.
    """

    where: str
    message: str

    def __str__(self) -> str:
        return " ".join(f"{self.where}: {self.message}".split())

    @property
    def kind(self) -> tuple[str, str]:
        """What is the same of faults that differ in line and value only."""
        return _LINE.sub("", self.where), _VALUE.sub("…", self.message)

    @property
    def place(self) -> str:
        """Its line, or the value it is about."""
        if line := _LINE.search(self.where):
            return f"line {line[1]}"
        return value[0] if (value := _VALUE.search(self.message)) else self.where


def _told(alike: Sequence[Fault]) -> list[str]:
    """A line each, or one for all where they are many."""
    if len(alike) <= FEW:
        return list(map(str, alike))
    places = ", ".join(fault.place for fault in alike[:3])
    return [f"{alike[0]} ({len(alike)} of this kind; the first: {places})"]


class HeldoutError(Exception):
    """Root of the tree. `exit_status` is what the command line ends with."""

    exit_status = 1


class UserFault(HeldoutError):
    """Something the person can fix."""

    exit_status = 2

    @property
    def lines(self) -> tuple[str, ...]:
        """One line a fault, ready to print."""
        return (str(self),)


class BadInput(UserFault):
    """Ill-formed input: every fault found, not only the first."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        if not faults:
            raise ValueError("BadInput needs at least one fault")
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, self.faults)))

    def __reduce__(self) -> tuple[type[BadInput], tuple[tuple[Fault, ...]]]:
        # An error crosses from a worker process with its faults, not with their joined text.
        return (BadInput, (self.faults,))

    @classmethod
    def one(cls, where: str, message: str) -> BadInput:
        """The error for a single fault."""
        return cls([Fault(where, message)])

    @property
    def lines(self) -> tuple[str, ...]:
        """One line a fault, ready to print; many of one kind are one line with their count."""
        kinds: dict[tuple[str, str], list[Fault]] = {}
        for fault in self.faults:
            kinds.setdefault(fault.kind, []).append(fault)
        return tuple(line for alike in kinds.values() for line in _told(alike))


class LooksSpent(UserFault):
    """The planned looks of a manifest are used up; `opened_by` names the runs that used them."""

    def __init__(self, manifest: str, opened_by: Sequence[str], planned: int) -> None:
        self.manifest, self.opened_by, self.planned = manifest, tuple(opened_by), planned
        super().__init__(
            f"{manifest}: the held-out consultations were looked at by {', '.join(opened_by)} "
            f"({counted(planned, 'planned look')}); "
            "a new partition of the same notes would not renew them; judge notes that nobody has "
            "looked at, or go on with --acknowledge-reuse as an exploratory run that never emits"
        )


class JournalMismatch(UserFault):
    """Re-execution and journal disagree at event `index`; nothing is written after it."""

    def __init__(self, index: int, kind: str, detail: str) -> None:
        self.index, self.kind, self.detail = index, kind, detail
        super().__init__(
            f"journal event {index} ({kind}) differs from what this run computes: {detail}"
        )


class CallMissing(UserFault):
    """Replay asked for a call that is in no store it may read."""

    def __init__(self, call: str, store: str) -> None:
        self.call, self.store = call, store
        super().__init__(f"{store}: replay has no stored call for {call}; nothing was sent")


class CallRefused(HeldoutError):
    """The provider refused `call` for a reason that asking again does not change.

    Others were answered before, so that there is something to go on from.
    """

    exit_status = 4
    then = "resume continues once it is mended"

    def __init__(self, call: str, kind: str, detail: str) -> None:
        self.call, self.kind, self.detail = call, kind, detail
        super().__init__(f"{call}: refused ({kind}): {detail}; {self.then}")

    def __reduce__(self) -> tuple[type[CallRefused], tuple[str, str, str]]:
        return (type(self), (self.call, self.kind, self.detail))


class RefusedAtStart(CallRefused, UserFault):
    """The provider refused `call` before anything was answered: there is nothing to go on from."""

    exit_status = 2
    then = "nothing was answered yet; mend it and start again"


class JournalBroken(UserFault):
    """The journal's hash chain breaks at `line` (1-based)."""

    def __init__(self, path: str, line: int, detail: str) -> None:
        self.path, self.line, self.detail = path, line, detail
        super().__init__(f"{path}: line {line}: {detail}")


class Stopped(HeldoutError):
    """The run ended early and `resume` continues it."""

    exit_status = 3


class HardCapReached(Stopped):
    """The next call would exceed `budget.<cap>`, or time is up.

    `abandoned` calls were in flight then and did not come back in time.
    """

    def __init__(self, cap: str, limit: float) -> None:
        self.cap, self.limit, self.abandoned = cap, limit, 0
        super().__init__(f"hard cap budget.{cap} = {limit:g} reached; raise it with resume --set")

    def __reduce__(self) -> tuple[type[HardCapReached], tuple[str, float]]:
        return (HardCapReached, (self.cap, self.limit))

    def __str__(self) -> str:
        told = super().__str__()
        return f"{told}; {may_be_twice(self.abandoned)}" if self.abandoned else told


def may_be_twice(calls: int) -> str:
    """What is told of calls that were given up in flight."""
    what = "1 call in flight was" if calls == 1 else f"{calls} calls in flight were"
    return f"{what} abandoned and may be bought again"


class StopRequested(Stopped):
    """A person asked for a stop: `by` is the signal or the stop file."""

    def __init__(self, by: str) -> None:
        self.by = by
        super().__init__(f"stopped by {by}; resume continues the run")


class StoreUnavailable(Stopped):
    """The call store at `where` took no write; every call it confirmed before is still there."""

    def __init__(self, where: str, detail: str) -> None:
        self.where, self.detail = where, detail
        super().__init__(f"{where}: {detail}; resume continues the run")


class CircuitOpen(HeldoutError):
    """`failures` calls in a row failed for reasons of infrastructure."""

    exit_status = 4

    def __init__(self, failures: int, last: str) -> None:
        self.failures, self.last = failures, last
        super().__init__(
            f"{failures} calls in a row failed ({last}); nothing was scored, resume continues"
        )


class InfrastructureFailure(HeldoutError):
    """One call did not come back with a reply: a network, server or deadline fault.

    `kind` names the fault for the counts in the report (`rate_limit`, `server`, `reset`, …);
    `retry_after` is what the server asked for, in seconds; `transient` is False where asking
    again cannot help (a rejected key, a prompt over the context window).
    """

    exit_status = 4

    def __init__(
        self,
        message: str,
        *,
        kind: str = "other",
        retry_after: float | None = None,
        transient: bool = True,
    ) -> None:
        self.kind, self.retry_after, self.transient = kind, retry_after, transient
        super().__init__(message)


class Unanswered(InfrastructureFailure):
    """One question got no reply although the provider answers others; it is set aside.

    `call` says in words what was asked, `requests` how often, `detail` what the last fault was.
    """

    def __init__(self, call: str, requests: int, fault: InfrastructureFailure) -> None:
        self.call, self.requests, self.detail = call, requests, str(fault)
        asked = "1 request" if requests == 1 else f"{requests} requests"
        super().__init__(
            f"{call}: gave up after {asked}: {fault}", kind=fault.kind, transient=fault.transient
        )

    def __reduce__(self) -> tuple[type[Unanswered], tuple[str, int, InfrastructureFailure]]:
        fault = InfrastructureFailure(self.detail, kind=self.kind, transient=self.transient)
        return (Unanswered, (self.call, self.requests, fault))


class NotesUnanswered(InfrastructureFailure):
    """A campaign cannot go on: `notes` (id to the kind of fault) were not answered.

    Everything else that was asked with them is stored.
    """

    def __init__(self, notes: Mapping[str, str], why: Sequence[str]) -> None:
        self.notes, self.why = dict(notes), tuple(why)
        names = ", ".join(self.notes)
        what = "1 note was" if len(self.notes) == 1 else f"{len(self.notes)} notes were"
        super().__init__(
            f"{what} not answered: {names} ({'; '.join(self.why)}); the rest is stored. resume "
            f"asks again, resume --leave-out {' '.join(self.notes)} goes on without",
            kind="unanswered",
        )

    def __reduce__(self) -> tuple[type[NotesUnanswered], tuple[dict[str, str], tuple[str, ...]]]:
        return (NotesUnanswered, (self.notes, self.why))
