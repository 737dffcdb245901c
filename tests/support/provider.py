"""A provider that misbehaves: an OpenAI-compatible server with faults drawn per request.

Whether a reply ends at its cap or in a content filter is drawn from the messages, so the
well-behaved server (no faults) serves the same.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from heldout.experiments.benchmarks.loopback import Answer, Request, completion
from heldout.splits.hashing import sha256_json
from heldout.splits.randomness import uniform

RETRY_AFTER_S = 0.05
Body = dict[str, Any]


@dataclass(frozen=True)
class FaultRates:
    """Share of requests that end in each fault."""

    rate_limit: float = 0.0
    server: float = 0.0
    reset: float = 0.0
    not_json: float = 0.0
    no_choices: float = 0.0
    hang: float = 0.0


PROPER = FaultRates()
MISBEHAVING = FaultRates(0.10, 0.05, 0.02, 0.02, 0.02, 0.01)
DOWN = FaultRates(server=1.0)


@dataclass
class Provider:
    """Responds to requests; `text` writes the answer, `rates` may be changed while it serves.

    `asked` counts requests by the hash of their messages and seed, `faults` what went wrong,
    `answered` the requests that got a whole reply.
    """

    text: Callable[[Body], str] = lambda body: f"answer {sha256_json(body['messages'])[:8]}"
    rates: FaultRates = PROPER
    seed: int = 0
    latency_s: float = 0.0
    hang_s: float = 30.0
    length: float = 0.01
    filtered: float = 0.01
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Request) -> Answer:
        """The answer to one request, with the fault drawn for it."""
        with self._lock:
            number = sum(self.asked.values())
            mark = identity(request.body)
            self.asked[mark] += 1
            self.headers.append(request.headers)
            self.bodies.append(request.body)
            kind = self._fault(number)
            (self.faults if kind else self.answered)[kind or mark] += 1
        good = json.dumps(self._completion(request.body)).encode()
        return self._broken(kind, number, good) if kind else Answer(good, delay_s=self.latency_s)

    def _fault(self, number: int) -> str | None:
        draw = uniform(self.seed, "fault", number)
        for kind, rate in vars(self.rates).items():
            draw -= rate
            if draw < 0:
                return str(kind)
        return None

    def _broken(self, kind: str, number: int, good: bytes) -> Answer:
        late = self.latency_s
        match kind:
            case "rate_limit":
                asks = uniform(self.seed, "retry-after", number) < 0.5
                headers = (("Retry-After", str(RETRY_AFTER_S)),) if asks else ()
                return Answer(b'{"error": {"message": "slow down"}}', 429, headers, late)
            case "server":
                return Answer(b'{"error": {"message": "oops"}}', 500, (), late)
            case "reset":
                return Answer(good, delay_s=late, cut=True)
            case "not_json":
                return Answer(b"<html>gateway</html>", 200, (("Content-Type", "text/html"),), late)
            case "no_choices":
                empty = {**completion("x"), "choices": []}
                return Answer(json.dumps(empty).encode(), delay_s=late)
        return Answer(good, delay_s=self.hang_s)

    def _completion(self, body: Body) -> Body:
        mark = sha256_json(body["messages"])
        draw = uniform("ending", mark)
        text = self.text(body)
        if draw < self.length:
            return completion(text[: len(text) // 2], finish="length")
        if draw < self.length + self.filtered:
            return completion("", finish="content_filter")
        return completion(text)


def identity(body: Body) -> str:
    """What makes two requests the same question: everything that was sent."""
    return sha256_json(body)
