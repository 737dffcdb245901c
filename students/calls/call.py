"""What one model call is: its stage, its identity, its seed.

The key of a call covers everything that could change its answer, so equal keys mean the same
question asked in the same way, and a stored reply can stand for it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property

from heldout.splits.hashing import sha256_json
from heldout.students.models.chat import Budget, ChatRequest, Message, ModelPin


class Stage(StrEnum):
    """What a call is for."""

    JUDGE = "judge"
    EXTRACT = "extract"
    AUDIT = "audit"
    CHECKLIST = "checklist"
    CHECK = "check"
    RETRY = "retry"
    SECOND_LOOK = "second_look"
    REFLECT = "reflect"
    MERGE = "merge"
    READY = "ready"

    @property
    def keeps_messages(self) -> bool:
        """True where the messages themselves may be stored: they hold reflect notes only."""
        return self in (Stage.REFLECT, Stage.MERGE)


@dataclass(frozen=True)
class CallSpec:
    """One call to make.

    `item` is what the call is about (note, consultation or proposal id); `sample` counts
    independent repetitions, `attempt` the targeted retries of one repetition; `occasion` sets
    apart a call that must be bought afresh although it was bought before (drift check).
    """

    stage: Stage
    item: str
    messages: tuple[Message, ...]
    pin: ModelPin
    budget: Budget
    seed: int
    sample: int = 0
    attempt: int = 0
    occasion: str = ""

    @cached_property
    def messages_sha256(self) -> str:
        """Hash of the messages as sent."""
        return sha256_json([[m.role, m.content] for m in self.messages])

    @cached_property
    def key(self) -> str:
        """Identity of the call: 64 hexadecimal digits."""
        return sha256_json(
            [
                self.stage,
                self.messages_sha256,
                self.pin.id,
                self.pin.temperature,
                self.pin.recorded,
                asdict(self.budget),
                self.seed,
                self.sample,
                self.attempt,
                self.occasion,
            ]
        )

    @property
    def request(self) -> ChatRequest:
        """The call as a model gets it."""
        return ChatRequest(self.pin, self.messages, self.budget, self.seed)


def describe(spec: CallSpec) -> str:
    """A call in words, without its text."""
    words = f"{spec.stage} of {spec.item} by {spec.pin.id}, sample {spec.sample}"
    return f"{words}, attempt {spec.attempt}" if spec.attempt else words
