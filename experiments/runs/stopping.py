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

_WAITING: ContextVar[list[str] | None] = ContextVar("waiting", default=None)
"""Names of the signals that came to a thread which waits for this work; None without one."""


@contextmanager
def stop_requests(stop_file: Path | None = None) -> Iterator[Callable[[], str | None]]:
    """A stop condition: the first Ctrl-C or SIGTERM, or `stop_file` where it exists.

    The first signal lets calls in flight finish; a second one is the default again.
    """
    with _noted_signals(_WAITING.get()) as seen:

        def asked() -> str | None:
            if seen:
                return seen[0]
            return stop_file.name if stop_file is not None and stop_file.exists() else None

        yield asked


def beside_a_running_loop(work: Callable[[], Result]) -> Result:
    """The result of `work`, done in a thread of its own where this one is running an asyncio loop.

    That is a notebook cell: it waits. Its stop button, or a first Ctrl-C, is a stop request to the
    work; a second one is raised here, and the work ends with its calls in flight.
    """
    if not _loop_is_running():
        return work()
    context = copy_context()
    pool = ThreadPoolExecutor(1, thread_name_prefix="heldout")
    try:
        with _noted_signals() as seen:
            context.run(_WAITING.set, seen)
            return pool.submit(context.run, work).result()
    finally:
        pool.shutdown(wait=False)


@contextmanager
def _noted_signals(waiting: list[str] | None = None) -> Iterator[list[str]]:
    """Names of the signals that come, each noted once and then handled as before.

    Outside the main thread, which alone may handle signals, those of the thread that waits.
    """
    seen = [] if waiting is None else waiting
    previous: dict[int, Any] = {}

    def note(number: int, _frame: FrameType | None) -> None:
        seen.append(signal.Signals(number).name)
        signal.signal(number, previous[number])

    if threading.current_thread() is threading.main_thread():
        for caught in (signal.SIGINT, signal.SIGTERM):
            previous[caught] = signal.signal(caught, note)
    try:
        yield seen
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
