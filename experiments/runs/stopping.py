"""How a person stops long work: a signal once, or a file."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any


@contextmanager
def stop_requests(stop_file: Path | None = None) -> Iterator[Callable[[], str | None]]:
    """A stop condition: the first Ctrl-C or SIGTERM, or `stop_file` where it exists.

    The first signal lets calls in flight finish; a second one is the default again.
    """
    seen: list[str] = []
    previous: dict[int, Any] = {}

    def note(number: int, _frame: FrameType | None) -> None:
        seen.append(signal.Signals(number).name)
        signal.signal(number, previous[number])

    def asked() -> str | None:
        if seen:
            return seen[0]
        return stop_file.name if stop_file is not None and stop_file.exists() else None

    for caught in (signal.SIGINT, signal.SIGTERM):
        previous[caught] = signal.signal(caught, note)
    try:
        yield asked
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
