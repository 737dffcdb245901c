"""Who may read what is written: the owner alone, unless a shared folder was asked for.

Run directories and the outputs of the practitioner's commands hold clinical text. While one is
written, folders are made 0700 and files 0600, whoever makes them: a database, a lock, a library.
`HELDOUT_UMASK`, octal digits as in `umask`, asks for another mask; `007` shares with the group.
What exists keeps its mode.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from heldout.splits.errors import BadInput

SETTING = "HELDOUT_UMASK"
OWNER_ONLY = 0o077

_LOCK = threading.Lock()
_BEFORE: list[int] = []
"""The masks that were found on entering, innermost last; the first one is put back at the end."""


@contextmanager
def private_files() -> Iterator[None]:
    """What is made meanwhile in this process is private; in any order and number of threads.

    Raises BadInput where `HELDOUT_UMASK` is no mask that leaves the owner the right to write.
    """
    mask = _asked()
    with _LOCK:
        _BEFORE.append(os.umask(mask))
    try:
        yield
    finally:
        with _LOCK:
            before = _BEFORE.pop()
            if not _BEFORE:
                os.umask(before)


def _asked() -> int:
    text = os.environ.get(SETTING)
    if not text:
        return OWNER_ONLY
    if not re.fullmatch("0?[0-7]{1,2}", text, re.ASCII):
        raise BadInput.one(SETTING, f"{text!r} is no mask of octal digits from 000 to 077")
    return int(text, 8)
