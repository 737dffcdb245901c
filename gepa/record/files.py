"""Files of a run: there whole or not at all, and a full disk is a stop, not a crash."""

from __future__ import annotations

import os
from pathlib import Path

from heldout.splits.errors import StoreUnavailable


def write_whole(path: Path, text: str) -> None:
    """Write `text` beside `path` and move it there, synced.

    Raises StoreUnavailable, after which the run can be resumed, where the disk takes no more.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreUnavailable(str(path), error.strerror or str(error)) from error
