"""Replies of odd shapes in great number, and the memory that bodies without end take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import zlib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.benchmarks.loopback import Answer, Request, completion, serving
from tests.support.doors import DIRECT, LITELLM, Doors, both_doors
from tests.support.odd_replies import answers
from tests.support.practice import emitted, write_notes

EXAMPLES = 500
"""Answers a job."""

HUGE = 100_000_000
NOTES = 20


def generated(folder: Path, number: int) -> dict[str, Any]:
    """How many of `EXAMPLES` drawn answers left either door as another exception, or differed."""
    del folder
    os.environ.setdefault("OPENAI_API_KEY", "none-needed")
    kinds: Counter[str] = Counter()
    wrong: list[str] = []
    with both_doors() as doors:

        @seed(number)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(answer=answers())
        def each(answer: Answer) -> None:
            direct, through = _means(doors, DIRECT, answer), _means(doors, LITELLM, answer)
            kinds[str(direct.get("kind") or direct.get("finish"))] += 1
            if direct != through or "exception" in direct:
                wrong.append(f"{answer!r:.300}: {direct!r:.300} and {through!r:.300}")

        each()
    return {"answers": kinds.total(), "kinds": dict(kinds), "wrong": wrong}


def _means(doors: Doors, door: str, answer: Answer) -> dict[str, object]:
    try:
        return doors.means(door, answer)
    except Exception as error:  # noqa: BLE001 - what must not be is counted
        return {"exception": repr(error)}


def memory(folder: Path, number: int) -> dict[str, Any]:
    """Peak memory of `heldout apply` with and without bodies that do not end, in bytes.

    Every second number goes through LiteLLM.
    """
    door = "litellm" if number % 2 else "direct"
    os.environ.setdefault("OPENAI_API_KEY", "none-needed")
    without, with_them = (
        _applied(folder / name, door, hostile=hostile)
        for name, hostile in (("without", False), ("with", True))
    )
    return {"door": door, "without": without, "with": with_them}


def _applied(folder: Path, door: str, *, hostile: bool) -> dict[str, Any]:
    prompt, notes = emitted(folder / "run"), write_notes(folder / "notes.csv", NOTES)
    bodies = _Endless() if hostile else None
    with serving(bodies or _good) as server:
        pins = folder / "models.yaml"
        entry = {
            "api_base": server.api_base,
            "door": door,
            "prices": {"prompt": 0, "completion": 0, "date": "2025-01-01"},
        }
        pins.write_text(yaml.safe_dump({"models": {"openai/judge": entry}}), encoding="utf-8")
        command = [sys.executable, "-m", "heldout.experiments.cli.main", "apply"]
        command += [str(prompt), str(notes), "--out", str(folder / "out")]
        command += ["--model", "openai/judge", "--models", str(pins), "--threshold", "5"]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said = child.stderr.read().decode() if child.stderr else ""
        return {
            "exit_status": child.returncode,
            "said": said[-500:],
            "peak": usage.ru_maxrss * 1024,
            "endless": 0 if bodies is None else bodies.sent,
        }


def _good(request: Request) -> Answer:
    del request
    return Answer(json.dumps(completion('{"assessment": "fine", "score": 7}')).encode())


class _Endless:
    """Answers the first request about each note with a body that is too large, by turns packed."""

    def __init__(self) -> None:
        self.sent = 0
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Answer:
        """The answer to one request."""
        with self._lock:
            asked = json.dumps(request.body["messages"])
            if asked in self._seen:
                return _good(request)
            self._seen.add(asked)
            self.sent += 1
            if self.sent % 2:
                return Answer(b" " * HUGE)
            return Answer(_bomb(), headers=(("Content-Encoding", "gzip"),))


@cache
def _bomb() -> bytes:
    """A gigabyte of white space, packed."""
    packer = zlib.compressobj(9, wbits=31)
    piece = b" " * 1_000_000
    return b"".join([*(packer.compress(piece) for _ in range(1000)), packer.flush()])
