"""A scripted caller: answers every call from a function and remembers what was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heldout.students.calls.call import CallSpec
from heldout.students.models.chat import ChatReply, StopReason, Usage


@dataclass(frozen=True)
class Stored:
    """A call with its reply."""

    key: str
    reply: ChatReply


def reply(text: str, finish: StopReason = StopReason.STOP) -> ChatReply:
    """A reply as a provider would give it, for nothing."""
    return ChatReply(text, finish, Usage(10, 10), 0.0, "scripted")


class ScriptedCaller:
    """Answers with `script(spec)`; the same call is answered once, as by the real caller."""

    def __init__(self, script: Callable[[CallSpec], str | ChatReply]) -> None:
        self.script = script
        self.asked: list[CallSpec] = []
        self._stored: dict[str, Stored] = {}

    async def call(self, spec: CallSpec) -> Stored:
        if spec.key not in self._stored:
            self.asked.append(spec)
            answer = self.script(spec)
            ready = reply(answer) if isinstance(answer, str) else answer
            self._stored[spec.key] = Stored(spec.key, ready)
        return self._stored[spec.key]
