"""Both doors to one server on loopback that answers with whatever bytes it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.benchmarks.loopback import Answer, Loopback, Request, serving

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.chat import (
    BODY_BYTES,
    Budget,
    ChatReply,
    ChatRequest,
    ConnectedModel,
    Message,
    ModelPin,
)
from heldout.students.models.litellm_client import LiteLLMModel
from heldout.students.models.openai_client import OpenAICompatibleModel

DIRECT, LITELLM = "direct", "litellm"
KEY_ENV = "TEST_API_KEY"
PIN = ModelPin("openai/m", 0.7, {}, 1.0, 10.0)


@dataclass
class Doors:
    """The two doors, the server behind them, and the requests that it saw."""

    server: Loopback
    runner: asyncio.Runner
    models: Mapping[str, ConnectedModel]
    answer: Answer | Callable[[Request], Answer] = field(default_factory=lambda: Answer(b"{}"))
    seen: list[Request] = field(default_factory=list)

    def ask(
        self,
        door: str,
        answer: Answer | Callable[[Request], Answer],
        pin: ModelPin = PIN,
        prompt: str = "judge",
    ) -> ChatReply | InfrastructureFailure:
        """What the door makes of `answer`; any other exception leaves as it is."""
        self.answer, self.seen[:] = answer, []
        request = ChatRequest(pin, (Message("user", prompt),), Budget(50), 77)
        try:
            return self.runner.run(self.models[door].complete(request))
        except InfrastructureFailure as fault:
            return fault

    def means(self, door: str, answer: Answer, pin: ModelPin = PIN) -> dict[str, object]:
        """The outcome of `answer` as plain values, fit to be compared."""
        return outcome(self.ask(door, answer, pin))


def outcome(found: ChatReply | InfrastructureFailure) -> dict[str, object]:
    """Everything that an outcome says."""
    if isinstance(found, ChatReply):
        return {name: getattr(found, name) for name in ChatReply.__slots__}
    return {name: getattr(found, name) for name in ("kind", "transient", "retry_after")} | {
        "said": str(found)
    }


@contextmanager
def both_doors(*, key_env: str | None = None, body_bytes: int = BODY_BYTES) -> Iterator[Doors]:
    """The doors to a server of their own, open until the block ends."""

    def respond(request: Request) -> Answer:
        doors.seen.append(request)
        return doors.answer if isinstance(doors.answer, Answer) else doors.answer(request)

    with serving(respond) as server, asyncio.Runner() as runner:
        models: dict[str, ConnectedModel] = {
            DIRECT: OpenAICompatibleModel(server.api_base, key_env, body_bytes=body_bytes),
            LITELLM: LiteLLMModel(server.api_base, key_env, body_bytes=body_bytes),
        }
        doors = Doors(server, runner, models)
        try:
            yield doors
        finally:
            for model in models.values():
                runner.run(model.aclose())
