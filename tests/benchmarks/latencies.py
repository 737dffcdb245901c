"""How many latencies a search waits for an iteration, by what is in flight at each provider.

Every call takes exactly one tick and nothing else takes time, so the counts are the same on every
machine: what waits for a free slot, for a warmed prefix or for another call waits whole ticks.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions
from heldout.gepa.record.codec import Event
from heldout.gepa.record.events import PhaseEvent, SearchEndEvent
from heldout.gepa.record.kinds import Phase
from heldout.reflectors.simulated.model import simulated_models
from heldout.students.models.chat import ChatModel, ChatReply, ChatRequest

TURNS = 50
"""Turns of the event loop in which nothing more is sent before a tick is over."""


@dataclass
class Clock:
    """Answers all calls in flight together, one tick after the last of them was sent."""

    ticks: int = 0
    calls: int = 0
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)
    _quiet: int = 0

    async def tick(self) -> None:
        """Wait one latency."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self.calls += 1
        if not self._waiting:
            loop.call_soon(self._turn, loop)
        self._waiting.append(future)
        self._quiet = 0
        await future

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._quiet += 1
        if self._quiet < TURNS:
            loop.call_soon(self._turn, loop)
            return
        self.ticks += 1
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


@dataclass
class Remote:
    """A simulated model as if it were far away: each call takes a tick."""

    model: ChatModel
    clock: Clock

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer a tick later."""
        await self.clock.tick()
        return await self.model.complete(request)

    async def aclose(self) -> None:
        """Nothing to close; with it the caller takes this for a model with connections."""


@dataclass
class Watch:
    """Ticks and calls when the search began and when it ended."""

    clock: Clock
    began: tuple[int, int] = (0, 0)
    ended: tuple[int, int] = (0, 0)

    def __call__(self, event: Event, replayed: bool) -> None:
        """Told of every event."""
        del replayed
        now = (self.clock.ticks, self.clock.calls)
        match event.body:
            case PhaseEvent(name=Phase.SEARCH):
                self.began = now
            case SearchEndEvent():
                self.ended = now


def latencies(config: Path, in_flight: int, settings: tuple[str, ...] = ()) -> tuple[float, str]:
    """Latencies an iteration of the search of `config`, and the run's lineage."""
    clock = Clock()
    watch = Watch(clock)
    doubles = {name: Remote(model, clock) for name, model in simulated_models().items()}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        all_settings = ("tracking.enabled=false", f"concurrency={in_flight}", *settings)
        options = RunOptions(quiet=True, observers=(watch,), doubles=doubles)
        ended = start(prepare(config, all_settings, run), run, options)
        iterations = len(ended.run.iterations)
        return (watch.ended[0] - watch.began[0]) / iterations, ended.run.lineage_sha256


def main() -> None:
    """Print the table of `docs/performance.md`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--config", type=Path, default=Path("configs/ranks_only.yaml"))
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 4, 8, 16, 32, 64, 128])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    print("| in flight | latencies an iteration | lineage |")
    print("|---|---|---|")
    for in_flight in options.in_flight:
        waited, lineage = latencies(options.config, in_flight, tuple(options.set))
        print(f"| {in_flight} | {waited:.2f} | `{lineage[:12]}` |", flush=True)


if __name__ == "__main__":
    main()
