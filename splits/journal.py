"""What the lower layers need of the journal: one method, and the event of a look.

The vault must put a look on record before it opens a held-out note, so both are declared here; the
hash-chained journal and all other events live in `heldout.gepa.record`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from heldout.splits.heldout.looks import LookKind


@dataclass(frozen=True, kw_only=True)
class LookEvent:
    """A look at held-out was bought, or taken from the run that had bought it before."""

    event_kind: ClassVar[str] = "look"

    look: str
    """Digest of held-out set, target, block and settings."""
    kind: LookKind
    heldout: str
    """Digest of the held-out set."""
    target: str
    """Digest of what is judged with: design, frame, model pin, settings."""
    block: str
    """Hash of the block."""
    settings: Mapping[str, Any]
    planned_looks: int
    exploratory: bool
    """True where the look is beyond the plan."""
    bought_by: str | None
    """The run that bought it before; None for this one."""


class LookJournal(Protocol):
    """An append-only record of what happened."""

    def append(self, event: LookEvent, /) -> None:
        """Record one event, on disk when the call returns.

        Raises JournalMismatch when a resumed run computes another event than it recorded before.
        """
