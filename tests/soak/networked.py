"""Campaigns over a network that misbehaves: the same lineage, nothing bought twice, caps kept."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.loopback import Loopback, serving
from tests.soak.provider import DOWN, MISBEHAVING, ODD, PROPER, FaultRates, Provider
from tests.soak.simulated_provider import (
    Simulations,
    network_settings,
    write_pins,
)

from heldout.experiments.campaigns.running import prepare, resume, start
from heldout.experiments.campaigns.session import RunOptions, SessionResult
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.splits.randomness import uniform

CONFIG = Path("configs/ranks_only.yaml")
IN_FLIGHT = 8
LATENCY_S = 0.005
SMALLER = ("benchmark.synthetic.consultations=24", "search.iterations=8")
"""A campaign of a third of its calls, for what is repeated many times."""
QUICK_RETRIES = ("retry.request_s=2", "retry.base_s=0.05", "retry.longest_s=1")
"""Waits in proportion to a server that answers in milliseconds; a hang is beyond `request_s`."""


@dataclass(frozen=True)
class Network:
    """A provider that is up, and the options of a campaign that asks it."""

    provider: Provider
    loopback: Loopback
    settings: tuple[str, ...]

    def campaign(self, folder: Path, *more: str) -> SessionResult:
        """Start the run in `folder`, or resume it."""
        run, options = folder / "run", RunOptions(quiet=True)
        if RunDirectory(run).config.exists():
            return resume(run, more, options)
        return start(prepare(CONFIG, [*self.settings, *more], run), run, options)


@contextmanager
def network(
    folder: Path,
    rates: FaultRates = PROPER,
    *,
    seed: int = 0,
    scale: Sequence[str] = (),
    key_env: str | None = None,
    door: str | None = None,
) -> Iterator[Network]:
    """A provider of simulated models with these faults; `scale` are options of every campaign.

    `key_env` names the environment variable that holds the key to send, if one is to be sent;
    `door` is the way to the models where it is not to be the direct one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    provider = Provider(Simulations(), rates, seed, LATENCY_S)
    with serving(provider) as loopback:
        pins = folder / "models.yaml"
        write_pins(pins, loopback.api_base, key_env, door)
        settings = (*network_settings(pins), f"concurrency={IN_FLIGHT}", *QUICK_RETRIES, *scale)
        yield Network(provider, loopback, settings)


@dataclass(frozen=True)
class Unharmed:
    """The same campaign against a proper server, nobody killing it."""

    told: dict[str, Any]
    asked: Counter[str]


def unharmed(folder: Path, scale: Sequence[str] = ()) -> Unharmed:
    """Run the campaign that the others are compared with."""
    with network(folder, scale=scale) as net:
        ended = told(net.campaign(folder))
        return Unharmed(ended, Counter(net.provider.asked))


def faults(
    folder: Path,
    number: int,
    scale: Sequence[str] = (),
    whole: Unharmed | None = None,
    door: str | None = None,
    rates: FaultRates = MISBEHAVING,
) -> dict[str, Any]:
    """One campaign against a misbehaving server beside the same one against a proper server."""
    proper = (whole or unharmed(folder / "proper", scale)).told
    with network(folder / "broken", rates, seed=number, scale=scale, door=door) as net:
        broken = told(net.campaign(folder / "broken"))
        at_server = dict(net.provider.faults)
    needed = proper["calls"]["requests"]
    return {
        "same_lineage": broken["lineage_sha256"] == proper["lineage_sha256"],
        "decision": broken["decision"],
        "needed": needed,
        "sent": broken["calls"]["requests"],
        "beyond_need": broken["calls"]["requests"] - needed,
        "faults_at_server": at_server,
        "faults_told": broken["calls"]["faults"],
        "violations": broken["accept"]["baseline"]["violations"],
        "wall_s": {"proper": proper["budget"]["wall_s"], "broken": broken["budget"]["wall_s"]},
    }


def odd(
    folder: Path, number: int, scale: Sequence[str] = (), whole: Unharmed | None = None
) -> dict[str, Any]:
    """The same where a tenth of the replies are of odd shapes; odd numbers go through LiteLLM."""
    os.environ.setdefault("OPENAI_API_KEY", "none-needed")
    return faults(folder, number, scale, whole, "litellm" if number % 2 else None, ODD)


def kill(
    folder: Path, number: int, scale: Sequence[str] = (), whole: Unharmed | None = None
) -> dict[str, Any]:
    """SIGKILL a networked campaign at a point drawn from `number`, resume, count at the server."""
    whole = whole or unharmed(folder / "whole", scale)
    needed = whole.asked
    with network(folder / "killed", scale=scale) as net:
        due = int(uniform("network kill", number) * needed.total())
        stored = _kill(net, folder / "killed", due)
        before = Counter(net.provider.asked)
        ended = told(net.campaign(folder / "killed"))
        asked = Counter(net.provider.asked)
    return {
        "same_lineage": ended["lineage_sha256"] == whole.told["lineage_sha256"],
        "stored_at_kill": stored,
        "sent_at_kill": before.total(),
        "sent_twice": (asked - needed).total(),
        "told_maybe_twice": len(ended["calls"]["maybe_twice"]),
        "never_sent": (needed - asked).total(),
        "in_flight_allowed": IN_FLIGHT,
    }


def outage(
    folder: Path, number: int, scale: Sequence[str] = (), whole: Unharmed | None = None
) -> dict[str, Any]:
    """Every request fails from a drawn moment on: status 4; resumed when the server is back."""
    whole = whole or unharmed(folder / "whole", scale)
    trip = ("retry.breaker_failures=20", "retry.breaker_s=0.2", *scale)
    after = int(uniform("outage", number) * whole.asked.total())
    with network(folder / "down", scale=trip) as net:
        net.provider.rates_from[after] = DOWN
        stopped = net.campaign(folder / "down")
        stored, answered = told(stopped)["calls"]["answered"], net.provider.answered.total()
        net.provider.rates_from.clear()
        ended = told(net.campaign(folder / "down"))
    return {
        "exit_status": stopped.exit_status,
        "stored_beyond_answered": stored - answered,
        "requests_while_down": net.provider.faults["server"],
        "same_lineage": ended["lineage_sha256"] == whole.told["lineage_sha256"],
    }


def cap(folder: Path, number: int, scale: Sequence[str] = ()) -> dict[str, Any]:
    """A hard cap of calls that cannot be reached: what the server had answered when it stopped."""
    with network(folder / "capped", MISBEHAVING, seed=number, scale=scale) as net:
        probe = prepare(CONFIG, net.settings, folder / "probe")
        least = 2 * probe.confirmation.calls
        limit = least + int(uniform("cap", number) * 30)
        stopped = net.campaign(folder / "capped", f"budget.calls={limit}")
        answered = net.provider.answered.total()
    return {
        "limit": limit,
        "answered": answered,
        "overshoot": max(0, answered - limit),
        "in_flight_allowed": IN_FLIGHT,
        "exit_status": stopped.exit_status,
    }


WALL_S = 2.0
WAYS = ("rate_limit", "hang", "reset", "slow")
"""How a server keeps a campaign waiting: 429 with Retry-After, silence, dropped connections, and
replies that take seconds."""


def wall(folder: Path, number: int, scale: Sequence[str] = ()) -> dict[str, Any]:
    """A cap of seconds while the server keeps the campaign waiting; how long it worked beyond it.

    The waits are the product's own, so that only the cap ends them.
    """
    way = WAYS[number % len(WAYS)]
    slow = way == "slow"
    rates = PROPER if slow else FaultRates(**{way: 1.0})
    with network(folder / "walled", scale=scale) as net:
        # All is well until some calls are answered, so that there is something to resume.
        net.provider.rates_from[10 + number] = rates
        if slow:
            net.provider.slow_from, net.provider.slow_s = 10 + number, 30.0
        net.provider.retry_after_s = 30.0
        began = time.monotonic()
        patient = [f"retry.{name}" for name in ("request_s=180", "base_s=0.5", "longest_s=30")]
        stopped = net.campaign(folder / "walled", *patient, f"budget.wall_s={WALL_S}")
        took = time.monotonic() - began
        run = told(stopped)
        net.provider.rates_from.clear()
        net.provider.slow_from = None
        ended = net.campaign(folder / "walled", "budget.wall_s=600")
    return {
        "way": way,
        "overshoot_s": max(0.0, run["budget"]["wall_s"] - WALL_S),
        "took_s": took,
        "abandoned": len(run["calls"].get("abandoned", ())),
        "exit_status": stopped.exit_status,
        "resumed_to": ended.exit_status,
    }


def told(ended: SessionResult) -> dict[str, Any]:
    """The JSON object of a run as it stands."""
    return ended.run.to_json()


CHILD = """
import sys
from pathlib import Path
from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions
folder, *settings = sys.argv[1:]
run = Path(folder) / "run"
start(prepare(Path("configs/ranks_only.yaml"), settings, run), run, RunOptions(quiet=True))
"""


def _kill(net: Network, folder: Path, due: int) -> int:
    """Run the campaign in a child, kill it after its `due`-th request; how many calls it stored."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(folder), *net.settings])
    while child.poll() is None and net.loopback.requests <= due:
        time.sleep(0.002)
    if child.poll() is None:
        os.kill(child.pid, signal.SIGKILL)
    child.wait()
    return stored_calls(RunDirectory(folder / "run"))


def stored_calls(run: RunDirectory) -> int:
    """How many calls a run's own store holds."""
    with sqlite3.connect(run.store) as connection:
        (count,) = connection.execute("select count(*) from calls").fetchone()
    return int(count)
