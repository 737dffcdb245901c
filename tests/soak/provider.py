"""A provider that misbehaves: an OpenAI-compatible server with faults drawn per request.

It is what the call layer is proved against, in the test suite and in `make soak`. Whether a reply
ends at its cap or in a content filter is drawn from the messages, so the well-behaved server (no
faults) serves the same.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.benchmarks.loopback import Answer, Request, completion
from tests.support.odd_replies import SHAPES, OddReply

from heldout.splits.hashing import sha256_json
from heldout.splits.randomness import uniform

RETRY_AFTER_S = 0.05
Body = dict[str, Any]
Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FaultRates:
    """Share of requests that end in each fault."""

    rate_limit: float = 0.0
    server: float = 0.0
    reset: float = 0.0
    not_json: float = 0.0
    no_choices: float = 0.0
    hang: float = 0.0
    odd: float = 0.0
    """Replies of odd shapes, see `tests.support.odd_replies`."""


PROPER = FaultRates()
MISBEHAVING = FaultRates(0.10, 0.05, 0.02, 0.02, 0.02, 0.01)
DOWN = FaultRates(server=1.0)
ODD = FaultRates(odd=0.10)
PASSING = tuple(
    shape
    for shape in SHAPES
    if shape.transient
    and shape.kind
    and not any("Retry" in name for name, _ in shape.answer.headers)
)
"""Odd replies after which the same question may be answered well."""


def made_up(body: Body) -> Body:
    """A short answer that depends on the messages alone."""
    return completion(f"answer {sha256_json(body['messages'])[:8]}")


@dataclass
class Provider:
    """Responds to requests; `answer` writes the reply, `rates` may be changed while it serves.

    `asked` counts requests by what was asked, `answered` those that got a whole reply, `faults`
    what went wrong; `headers` are those of every request. `slow_from` makes replies take
    `slow_s` from the request of that number on. `rates_from` gives other rates from the
    request of a number on, `refuse_from` rejects the key from there on, `echo_headers` puts what
    was received into the replies, as some gateways do. `length` and `filtered` are shares of the
    questions, not of the requests.
    """

    answer: Callable[[Body], Body] = made_up
    rates: FaultRates = PROPER
    seed: int = 0
    latency_s: float = 0.0
    hang_s: float = 30.0
    length: float = 0.01
    filtered: float = 0.01
    refuse_from: int | None = None
    echo_headers: bool = False
    retry_after_s: float = RETRY_AFTER_S
    slow_from: int | None = None
    slow_s: float = 0.0
    rates_from: dict[int, FaultRates] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    headers: list[dict[str, str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Request) -> Answer:
        """The answer to one request, with the fault drawn for it."""
        with self._lock:
            number = sum(self.asked.values())
            mark = identity(request.body)
            self.asked[mark] += 1
            self.headers.append(request.headers)
            kind = self._fault(number)
            if self.refuse_from is not None and number >= self.refuse_from:
                kind = "auth"
            shape = self._shape(number) if kind == "odd" else None
            (self.faults if kind else self.answered)[shape.kind if shape else kind or mark] += 1
        if shape:
            return replace(shape.answer, delay_s=self.latency_s)
        reply = self._completion(request.body)
        if self.echo_headers:
            reply["received"] = request.headers
            sent = request.headers.get("authorization", "")
            reply["model"] = reply["id"] = f"echo of {sent}"
            reply["choices"][0]["message"]["reasoning"] = sent
            reply["usage"]["note"] = "".join(f"\\u{ord(letter):04x}" for letter in sent)
        good = json.dumps(reply).encode()
        if kind:
            return self._broken(kind, number, good)
        slow = self.slow_from is not None and number >= self.slow_from
        return Answer(good, delay_s=self.slow_s if slow else self.latency_s)

    def _shape(self, number: int) -> OddReply:
        return PASSING[int(uniform(self.seed, "odd", number) * len(PASSING))]

    def _fault(self, number: int) -> str | None:
        draw = uniform(self.seed, "fault", number)
        changes = [start for start in self.rates_from if start <= number]
        rates = self.rates_from[max(changes)] if changes else self.rates
        for kind, rate in vars(rates).items():
            draw -= rate
            if draw < 0:
                return str(kind)
        return None

    def _broken(self, kind: str, number: int, good: bytes) -> Answer:
        late = self.latency_s
        if kind == "hang":
            return Answer(good, delay_s=self.hang_s)
        if kind == "reset":
            return Answer(good, delay_s=late, cut=True)
        if kind == "not_json":
            return Answer(b"<html>gateway</html>", 200, (("Content-Type", "text/html"),), late)
        status, said, headers = self._said(kind, number)
        return Answer(json.dumps(said).encode(), status, headers, late)

    def _said(self, kind: str, number: int) -> tuple[int, Body, Headers]:
        """Status, body and headers of a fault that is a reply."""
        match kind:
            case "rate_limit":
                asks = uniform(self.seed, "retry-after", number) < 0.5
                headers = (("Retry-After", str(self.retry_after_s)),) if asks else ()
                return 429, {"error": {"message": "slow down"}}, headers
            case "auth":
                return 401, {"error": {"message": f"rejected: {self.headers[number]}"}}, ()
            case "no_choices":
                return 200, {**completion("x"), "choices": []}, ()
        return 500, {"error": {"message": "oops"}}, ()

    def _completion(self, body: Body) -> Body:
        draw = uniform("ending", sha256_json(body["messages"]))
        reply = self.answer(body)
        choice = reply["choices"][0]
        text = choice["message"]["content"]
        if draw < self.length:
            choice["finish_reason"] = "length"
            choice["message"]["content"] = text[: len(text) // 2]
        elif draw < self.length + self.filtered:
            choice["finish_reason"] = "content_filter"
            choice["message"]["content"] = ""
        return reply


def identity(body: Body) -> str:
    """What makes two requests the same question: everything that was sent."""
    return sha256_json(body)
