"""How close judging comes to what a provider allows, beside gepa and dspy.GEPA.

Every contestant judges the same notes once, against a server on loopback in a process of its own
that answers after a fixed latency. The ideal is calls x latency / in flight. Each contestant runs
in a fresh process, one after the other.

    python -m tests.benchmarks.throughput --page docs/performance.md
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
from tests.benchmarks.throughput_peers import dspy_gepa, gepa_optimize

from heldout.splits.benchmark import Note
from heldout.splits.synthetic import draw
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.store import CallStore
from heldout.students.designs.whole_note import WholeNoteJudge
from heldout.students.frames import load_frame
from heldout.students.models.chat import Budget, ChatModel, ModelPin
from heldout.students.models.litellm_client import LiteLLMModel
from heldout.students.models.openai_client import OpenAICompatibleModel

MARK = "<!-- Below: python -m tests.benchmarks.throughput -->"
BLOCK = "Judge whether the note is faithful to the transcript and complete."
PIN = ModelPin("openai/judge", 1.0, {}, 0.0, 0.0)
HELDOUT_REPLY = 'Nothing is missing.\n{"assessment": "Complete.", "score": 7}'
DSPY_REPLY = "[[ ## score ## ]]\n7\n\n[[ ## completed ## ]]"


@dataclass(frozen=True, slots=True)
class Setting:
    """One load: latency of the server in seconds, requests in flight, judgements."""

    latency_s: float
    in_flight: int
    judgements: int

    @property
    def ideal_s(self) -> float:
        """Seconds it takes if the client costs nothing."""
        return self.judgements * self.latency_s / self.in_flight


SETTINGS = (Setting(1.0, 96, 960), Setting(0.1, 32, 3200))


@dataclass(frozen=True, slots=True)
class Speed:
    """What one contestant took (clock and CPU, in seconds), and what the server was asked."""

    wall_s: float
    cpu_s: float
    requests: int


@cache
def notes(count: int) -> tuple[Note, ...]:
    """`count` synthetic notes with their transcripts."""
    made = draw(max(10, count // 4), seed=5).benchmark
    found = [note for consultation in made.consultations for note in consultation.notes]
    return tuple(found[:count])


def heldout_direct(base: str, setting: Setting) -> None:
    """Heldout's judge, caller and store on the direct path."""
    asyncio.run(_heldout(OpenAICompatibleModel(base), setting))


def heldout_litellm(base: str, setting: Setting) -> None:
    """The same through LiteLLM."""
    asyncio.run(_heldout(LiteLLMModel(base), setting))


async def _heldout(model: OpenAICompatibleModel | LiteLLMModel, setting: Setting) -> None:
    models: dict[str, ChatModel] = {PIN.id: model}
    with tempfile.TemporaryDirectory() as folder:
        store = CallStore(f"sqlite:///{folder}/calls.sqlite", "run")
        caller = Caller(models, store, Ledger(Caps()), concurrency=setting.in_flight)
        judge = WholeNoteJudge(load_frame("whole_note"), PIN, caller, 1)
        budget = Budget(1000)
        judged = await asyncio.gather(
            *(judge.judge(BLOCK, note, budget, 0) for note in notes(setting.judgements))
        )
        assert all(judgement.score == 7 for judgement in judged)
        store.close()
    await model.aclose()


def prompts(setting: Setting) -> list[str]:
    """What the judge of a peer reads for each note: what Heldout's reads."""
    frame = load_frame("whole_note")
    return [
        frame.render({"transcript": note.transcript, "note": note.text, "block": BLOCK})
        for note in notes(setting.judgements)
    ]


CONTESTANTS = {
    "heldout, direct path": (heldout_direct, HELDOUT_REPLY),
    "heldout, through LiteLLM": (heldout_litellm, HELDOUT_REPLY),
    "gepa": (lambda base, s: gepa_optimize(base, prompts(s), s.in_flight), HELDOUT_REPLY),
    "dspy.GEPA": (lambda base, s: dspy_gepa(base, prompts(s), s.in_flight), DSPY_REPLY),
}


@contextmanager
def server(latency_s: float, text: str) -> Iterator[str]:
    """A server process; its `api_base`."""
    module = "tests.benchmarks.loopback"
    options = ["--latency-s", str(latency_s), "--text", text]
    with subprocess.Popen(
        [sys.executable, "-m", module, *options], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None  # asked for above
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


def measure(contestant: str, setting: Setting) -> Speed:
    """Run one contestant here and now; imports and the making of notes come before the clock."""
    run, text = CONTESTANTS[contestant]
    notes(setting.judgements)
    with server(setting.latency_s, text) as base:
        # A few calls, so that imports made at the first call are not measured as calls.
        run(base, Setting(setting.latency_s, 2, 4))
        before = asked_so_far(base)
        began, cpu = time.perf_counter(), time.process_time()
        run(base, setting)
        wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        return Speed(wall_s, cpu_s, asked_so_far(base) - before)


def asked_so_far(base: str) -> int:
    """How many completions the server has been asked for."""
    return int(httpx.get(f"{base}/count").json())


def in_fresh_process(contestant: str, setting: Setting) -> Speed:
    """The same in a process of its own."""
    asked = json.dumps([contestant, setting.latency_s, setting.in_flight, setting.judgements])
    command = [sys.executable, "-m", "tests.benchmarks.throughput", "--one", asked]
    environment = {**os.environ, "OPENAI_API_KEY": "none-needed"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Speed(**json.loads(done.stdout.splitlines()[-1]))


def table(found: list[tuple[str, Setting, Speed]]) -> list[str]:
    """The rows of the page."""
    lines = [
        "| client | latency, in flight, judgements | requests | seconds (ideal) "
        "| share of the ideal | CPU ms a judgement |",
        "|---|---|---|---|---|---|",
    ]
    for contestant, setting, speed in found:
        share = setting.ideal_s / speed.wall_s
        lines.append(
            f"| {contestant} | {setting.latency_s:g} s, {setting.in_flight}, {setting.judgements} "
            f"| {speed.requests} | {speed.wall_s:.1f} ({setting.ideal_s:.1f}) | {share:.2f} "
            f"| {1e3 * speed.cpu_s / setting.judgements:.2f} |"
        )
    return lines


def write(page: Path, lines: list[str]) -> None:
    """Replace what stands below the mark, or add it at the end."""
    head = page.read_text(encoding="utf-8").partition(MARK)[0].rstrip() if page.exists() else ""
    made_with = f"gepa {version('gepa')}, dspy {version('dspy')}, LiteLLM {version('litellm')}."
    body = "\n".join([MARK, "", made_with, "", *lines])
    page.write_text(f"{head}\n\n{body}\n", encoding="utf-8")


def main() -> None:
    """Measure every contestant at every load and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=Path("docs/performance.md"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        contestant, *numbers = json.loads(options.one)
        speed: dict[str, Any] = {}
        found_one = measure(contestant, Setting(*numbers))
        speed.update(wall_s=found_one.wall_s, cpu_s=found_one.cpu_s, requests=found_one.requests)
        print(json.dumps(speed))
        return
    found = []
    for setting in SETTINGS:
        for contestant in CONTESTANTS:
            found.append((contestant, setting, in_fresh_process(contestant, setting)))
            print(table(found)[-1], flush=True)
    write(options.page, table(found))


if __name__ == "__main__":
    main()
