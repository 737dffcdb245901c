"""`heldout verify`: does a run hold together? Everything that does not is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns import verified_files, verified_record
from heldout.experiments.campaigns.verified_files import Examined, Told
from heldout.experiments.runs.run_directory import existing_run
from heldout.gepa.record.run import Run
from heldout.splits.chain import UNREADABLE
from heldout.splits.counted import counted
from heldout.splits.errors import HeldoutError, JournalBroken, UserFault

Check = Callable[[Examined], Iterable[Told]]

CHECKS: Mapping[str, Check] = {
    "config": verified_files.config,
    "record": verified_record.record,
    "lineage": verified_record.lineage,
    "manifest": verified_files.manifest,
    "benchmark": verified_files.benchmark,
    "calls": verified_files.calls,
    "gate": verified_files.gate,
    "emission": verified_files.emission,
    "looks": verified_record.looks,
    "family": verified_files.family,
    "pages": verified_files.pages,
}
"""What is checked once the chain of the journal holds, in this order."""


@dataclass(frozen=True)
class Verified:
    """What was checked, the faults found, and what is no fault but to be known.

    `events` leaves out notes of pages that were written.
    """

    run: str
    events: int
    checked: tuple[str, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def fault(self) -> str | None:
        """The first fault, None when everything holds."""
        return self.faults[0] if self.faults else None

    @property
    def exit_status(self) -> int:
        """0 when everything holds, 1 for a fault."""
        return 1 if self.faults else 0

    @property
    def text(self) -> str:
        """For a person, a line a fault."""
        if self.faults:
            return "\n".join(self.faults)
        head = (
            f"{self.run}: {counted(self.events, 'event')} hold together ({', '.join(self.checked)})"
        )
        return "\n".join([head, *self.notes])

    def to_json(self) -> dict[str, Any]:
        """`{run_dir, ok, events, checked, fault, faults, notes}`; `fault` is the first one."""
        return {
            "run_dir": self.run,
            "ok": not self.faults,
            "events": self.events,
            "checked": list(self.checked),
            "fault": self.fault,
            "faults": list(self.faults),
            "notes": list(self.notes),
        }


def verify_run(path: Path) -> Verified:
    """Hold every file of a run against its journal, and the journal against itself.

    Writes nothing. Raises BadInput where there is no run.
    """
    run = existing_run(path)
    try:
        so_far = Run.at(run.path)
    except JournalBroken as broken:
        return Verified(str(run.path), broken.line - 1, ("chain",), (str(broken),))
    except (*UNREADABLE, OSError) as error:
        fault = f"{run.journal}: does not fit together ({_words(error)})"
        return Verified(str(run.path), 0, ("chain",), (fault,))
    examined = Examined(run, so_far)
    told = [line for name, check in CHECKS.items() for line in _findings(name, check, examined)]
    return Verified(
        run=str(run.path),
        events=len(so_far.events),
        checked=("chain", *CHECKS),
        faults=tuple(dict.fromkeys(str(line) for line in told if line.is_fault)),
        notes=tuple(str(line) for line in told if not line.is_fault),
    )


def _findings(name: str, check: Check, examined: Examined) -> list[Told]:
    """What one check says; what it cannot read is a fault as well."""
    found: list[Told] = []
    try:
        found.extend(check(examined))
    except UserFault as fault:
        found += [Told(line) for line in fault.lines]
    except HeldoutError as error:
        found.append(Told(str(error)))
    except (*UNREADABLE, OSError) as error:
        found.append(Told(f"{examined.run.path}: {name}: cannot be read ({_words(error)})"))
    return found


def _words(error: BaseException) -> str:
    """A foreign error in one line."""
    return f"{type(error).__name__} {' '.join(str(error).split())[:200]}".strip()
