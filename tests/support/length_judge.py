"""A scripted judge that goes by the length of the note once its block has evolved."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.campaigns import SMALL

from heldout.splits.hashing import sha256_text
from heldout.students.models.chat import ChatReply, ChatRequest, StopReason, Usage

SEEDS = {seed["text"] for seed in SMALL["seeds"]}
SAFE = {"side_margins": {"commissions": 1.0, "false_alarms": 1.0, "detection": 1.0}}
"""Gate settings under which it may be worse on additions, which are longer."""


def by_length(block: str, note: str) -> float:
    """Seeds see nothing; every evolved block orders notes by length, so it sees omissions."""
    return 7.0 if block in SEEDS else min(10.0, len(note) / 300)


@dataclass
class LengthJudge:
    """Scores by `score`, a function of block and note, with `noise` by the seed of the call.

    `shift` is added to a block's scores from the second asking of a note on.
    """

    score: Callable[[str, str], float] = by_length
    shift: float = 0.0
    noise: float = 0.0
    asked: set[tuple[str, str]] = field(default_factory=set)

    async def complete(self, request: ChatRequest) -> ChatReply:
        text = request.messages[0].content
        note = text.split("<note>\n")[1].split("\n</note>")[0]
        block = text.split("<instructions>\n")[1].split("\n</instructions>")[0]
        score = self.score(block, note) + (self.shift if (block, note) in self.asked else 0.0)
        self.asked.add((block, note))
        drawn = int(sha256_text(f"{block}{note}{request.seed}")[:6], 16) / 0xFFFFFF
        score = round(min(10.0, max(0.0, score + self.noise * (drawn - 0.5))), 6)
        answer = json.dumps({"assessment": "made", "score": score})
        return ChatReply(answer, StopReason.STOP, Usage(50, 10), 0.0, "sim/judge")
