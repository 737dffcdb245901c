"""What the lower layers need of the journal: one method.

The vault must put a look on record before it opens a held-out note, so the protocol is declared
here; the hash-chained implementation lives in `heldout.gepa.record.journal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Journal(Protocol):
    """An append-only record of what happened."""

    def append(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Record one event, on disk when the call returns.

        Raises JournalMismatch when a resumed run computes another event than it recorded before.
        """
