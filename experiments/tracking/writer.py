"""Tracking beside a live run: one thread, which the campaign never waits for.

`observe` only puts an event on a queue. The first failure ends the thread's work for this session
and is kept for the command line to print; `heldout sync` makes up for it later.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from queue import Empty, SimpleQueue

from heldout.experiments.tracking.recorder import Recorder
from heldout.experiments.tracking.settings import TrackingSettings
from heldout.gepa.record.codec import Event
from heldout.splits.errors import HeldoutError

CLOSE_S = 60.0
"""How long `close` waits for what is left to write."""


class TrackingWriter:
    """Projects a run while it is live.

    `failure` says in one line why tracking stopped, None while it has not. Made before the first
    event and closed once; `observe` is an observer of `heldout.gepa.record.journal.RunJournal`.
    """

    def __init__(self, run_dir: Path, settings: TrackingSettings) -> None:
        self._recorder = Recorder(run_dir, settings)
        self._queue: SimpleQueue[Event | None] = SimpleQueue()
        self._given_up = False
        self._late: str | None = None
        # A pool of one, because a future keeps what a bare thread would print and lose.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tracking")
        self._work = self._pool.submit(self._follow)

    @property
    def failure(self) -> str | None:
        """Why tracking stopped, in one line."""
        if self._late is not None:
            return self._late
        error = self._work.exception() if self._work.done() else None
        if error is None:
            return None
        return str(error) if isinstance(error, HeldoutError) else f"{type(error).__name__}: {error}"

    @property
    def run_url(self) -> str | None:
        """Address of the saved view on a tracking server; None for a database without one."""
        return self._recorder.address

    @property
    def prompt_uri(self) -> str | None:
        """`prompts:/name/version` of what the run emitted, once it is registered."""
        return self._recorder.prompt_uri

    def observe(self, event: Event, replayed: bool) -> None:
        """Note an event; returns at once. Replayed events are as good as new ones."""
        del replayed
        if not self._work.done():
            self._queue.put(event)

    def close(self, timeout: float = CLOSE_S) -> None:
        """Write what is left, for at most `timeout` seconds. Never raises; see `failure`."""
        self._queue.put(None)
        wait([self._work], timeout)
        if not self._work.done():
            self._given_up = True
            self._late = f"not finished within {timeout:g} s"
        self._pool.shutdown(wait=False)

    def _follow(self) -> None:
        with self._recorder.lock():
            ended = False
            while not ended and not self._given_up:
                ended = self._take()
                if not ended:
                    self._recorder.step()
            if not self._given_up:
                self._recorder.finish()

    def _take(self) -> bool:
        """Move everything that waits into the recorder; True when the run is over."""
        event = self._queue.get()
        while event is not None:
            self._recorder.add(event)
            try:
                event = self._queue.get_nowait()
            except Empty:
                return False
        return True
