"""Progress of a campaign: one line kept up to date on a terminal and under a notebook's cell.

Everywhere else, and outside the main thread of a terminal, it is a plain line now and then.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from heldout.gepa.candidates import Status
from heldout.gepa.record.codec import Event
from heldout.gepa.record.events import CandidateEvent, IterationEvent, PhaseEvent
from heldout.gepa.record.kinds import Phase
from heldout.splits.counted import counted
from heldout.students.calls.ledger import Totals

PLAIN_EVERY_S = 5.0
REFRESH_HZ = 4


@dataclass
class State:
    """What is known of the run so far; filled by journal events."""

    iterations: int
    phase: str = "starting"
    iteration: int = 0
    candidates: int = 0
    entered: int = 0
    best: float | None = None
    search_began: float | None = None
    replayed: int = 0

    def see(self, event: Event, replayed: bool, now: float) -> None:
        """Take one event in."""
        self.replayed += replayed
        match event.body:
            case PhaseEvent(name=phase):
                self.phase = phase
                if phase is Phase.SEARCH:
                    self.search_began = now
            case CandidateEvent(status=status):
                self.candidates += 1
                self.entered += status is Status.ENTERED
            case IterationEvent(iteration=iteration, best=best):
                self.iteration, self.best = iteration, best

    def seconds_left(self, now: float) -> float | None:
        """Time left in the search at its pace so far; None before it has a pace."""
        if self.search_began is None or not self.iteration or self.phase != Phase.SEARCH:
            return None
        pace = (now - self.search_began) / self.iteration
        return pace * (self.iterations - self.iteration)


def describe(state: State, totals: Totals, now: float) -> str:
    """One line: phase, iteration, calls, tokens, money, best accept figure, time left."""
    parts = [f"{state.phase:<9}"]
    if state.iteration:
        parts.append(f"iteration {state.iteration}/{state.iterations}")
    if state.candidates:
        parts.append(f"{state.entered}/{state.candidates} entered")
    parts.append(f"{counted(totals.calls, 'call')}")
    about = "about " if totals.estimated else ""
    parts.append(f"{about}{totals.tokens / 1e6:.2f}M tokens")
    parts.append("USD unknown" if totals.usd is None else f"USD {totals.usd:.2f}")
    if state.best is not None and state.best >= 0:
        parts.append(f"best accept {state.best:.3f}")
    left = state.seconds_left(now)
    if left is not None:
        parts.append(f"about {left:.0f} s left")
    return " · ".join(parts)


@dataclass
class Progress:
    """Shows a run while it goes; use as a context manager and as a journal observer.

    Everything goes to `stream` (standard error), so that `--json` keeps standard output clean.
    `totals` gives what was spent so far; it is set once the ledger is there.
    """

    iterations: int
    totals: Callable[[], Totals] = Totals
    stream: TextIO = field(default_factory=lambda: sys.stderr)

    def __post_init__(self) -> None:
        self._state = State(self.iterations)
        self._console = Console(file=self.stream)
        self._shown: Live | CellLine | None = None
        self._printed_at, self._printed_phase = 0.0, ""

    def __enter__(self) -> Progress:
        if self._console.is_jupyter:
            self._shown = CellLine(self._text)
        elif self._console.is_terminal and threading.current_thread() is threading.main_thread():
            self._shown = Live(
                console=self._console,
                refresh_per_second=REFRESH_HZ,
                get_renderable=lambda: Text(self._text()),
                transient=True,
            )
        if self._shown is not None:
            self._shown.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def observe(self, event: Event, replayed: bool) -> None:
        """Take a journal event in, and print a plain line now and then."""
        now = time.monotonic()
        self._state.see(event, replayed, now)
        if self._shown is not None or replayed:
            return
        new_phase = self._state.phase != self._printed_phase
        if new_phase or now - self._printed_at >= PLAIN_EVERY_S:
            self._printed_at, self._printed_phase = now, self._state.phase
            # Whoever reads along may go away; the run goes on.
            with suppress(OSError, ValueError):
                print(self._text(), file=self.stream, flush=True)

    def _text(self) -> str:
        return describe(self._state, self.totals(), time.monotonic())


class CellLine:
    """A line under a notebook's cell, kept up to date by a thread of its own.

    IPython's display alone: `rich.live` would want ipywidgets. The last state stays.
    """

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._done = threading.Event()
        self._handle: Any = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Show the line."""
        display: Any = import_module("IPython.display").display
        self._handle = display(self._content(), raw=True, display_id=True)
        # The context says to which cell the output belongs.
        context = copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._follow,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Show it a last time."""
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        while not self._done.wait(1 / REFRESH_HZ):
            self._handle.update(self._content(), raw=True)
        self._handle.update(self._content(), raw=True)

    def _content(self) -> dict[str, str]:
        return {"text/plain": self._text()}
