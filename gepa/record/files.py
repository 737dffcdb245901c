"""Files of a run: there whole or not at all, and a full disk is a stop, not a crash."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from heldout.splits.errors import StoreUnavailable


def write_whole(path: Path, text: str) -> None:
    """Write `text` beside `path` and move it there, synced.

    Raises StoreUnavailable, after which the run can be resumed, where the disk takes no more.
    """
    try:
        replace_file(path, text)
    except OSError as error:
        raise StoreUnavailable(str(path), error.strerror or str(error)) from error


def replace_file(path: Path, text: str) -> None:
    """The same for a file that no run depends on; one that is replaced lends its mode.

    Raises OSError.
    """
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8", newline="\n") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    if path.exists():
        shutil.copymode(path, part)
    part.replace(path)
