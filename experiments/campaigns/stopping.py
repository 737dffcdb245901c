"""How a person stops long work: a signal once, a file, or the stop button of a notebook."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")

_INTERRUPTS: ContextVar[list[str] | None] = ContextVar("interrupts", default=None)
"""Interrupts of the thread that waits for this work, by name; None where none waits."""


@contextmanager
def stop_requests(stop_file: Path | None = None) -> Iterator[Callable[[], str | None]]:
    """A stop condition: the first Ctrl-C or SIGTERM, or `stop_file` where it exists.

    The first signal lets calls in flight finish; a second one is the default again. Outside the
    main thread, which alone may handle signals, the file is left, and the interrupt of a thread
    that waits in `beside_a_running_loop`.
    """
    waiting = _INTERRUPTS.get()
    seen = [] if waiting is None else waiting
    previous: dict[int, Any] = {}

    def note(number: int, _frame: FrameType | None) -> None:
        seen.append(signal.Signals(number).name)
        signal.signal(number, previous[number])

    def asked() -> str | None:
        if seen:
            return seen[0]
        return stop_file.name if stop_file is not None and stop_file.exists() else None

    if threading.current_thread() is threading.main_thread():
        for caught in (signal.SIGINT, signal.SIGTERM):
            previous[caught] = signal.signal(caught, note)
    try:
        yield asked
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def beside_a_running_loop(work: Callable[[], Result]) -> Result:
    """The result of `work`, done in a thread of its own where this one is running an asyncio loop.

    That is a notebook cell: the cell waits. Its first KeyboardInterrupt is a stop request, as the
    first Ctrl-C is in a terminal; a second one is raised, and the work ends with its calls in
    flight.
    """
    if not _loop_is_running():
        return work()
    interrupts: list[str] = []
    context = copy_context()
    context.run(_INTERRUPTS.set, interrupts)
    pool = ThreadPoolExecutor(1, thread_name_prefix="heldout")
    try:
        future = pool.submit(context.run, work)
        try:
            return future.result()
        except KeyboardInterrupt:
            interrupts.append(signal.Signals.SIGINT.name)
            return future.result()
    finally:
        pool.shutdown(wait=False)


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
