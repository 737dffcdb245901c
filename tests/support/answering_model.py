"""A chat model that fits every contract: it tells notes apart by a word count, with a price."""

from __future__ import annotations

from tests.support.answering import answer

from heldout.students.models.chat import ChatReply, ChatRequest, StopReason, Usage


class AnsweringModel:
    """Calls a note flawless if its prompt's length is no multiple of `every`."""

    def __init__(self, every: int = 3, usd: float | None = 0.001) -> None:
        self.every, self.usd = every, usd
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        well = len(request.messages[0].content) % self.every > 0
        text = answer(request, well=well)
        return ChatReply(text, StopReason.STOP, Usage(100, 10), self.usd, "answering")
