"""`sim/reflector`: a chat model that answers reflection and merge requests by program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.reflectors.payload import CHARACTERS_A_TOKEN, estimate_tokens
from heldout.reflectors.reply import CLOSE, OPEN
from heldout.reflectors.simulated.editing import Habits, merge, rewrite
from heldout.reflectors.simulated.reading import Request, read_request
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_json
from heldout.splits.randomness import Part, choice, uniform
from heldout.students.models.chat import (
    ChatModel,
    ChatReply,
    ChatRequest,
    StopReason,
    Usage,
    cost_usd,
)
from heldout.students.simulated import JUDGE_ID, PLACEBO_ID, SimulatedJudge, SimulatedPlacebo

MODEL_ID = "sim/reflector"
UNUSABLE_RATE = 0.04
"""Share of replies without a usable block."""

_PREAMBLES = (
    "The cases share a cause: the block never says how to look. I mend that.",
    "What fails here is the comparison, so the block should say what to compare.",
    "The block is too general for these failures; I make it more definite.",
    "I keep what works and change what the failures speak against.",
)


@dataclass(frozen=True, slots=True)
class SimulatedReflector:
    """A deterministic reflector that sees only the messages.

    Equal requests get equal replies. `habits` are its defaults; the pin's parameter `max_edits`
    overrides the number of edits. `unusable`: share of replies, in [0, 1], without a usable block.
    """

    habits: Habits = field(default_factory=Habits)
    unusable: float = UNUSABLE_RATE

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The reply to `request`, see `answer`."""
        return self.answer(request)

    def answer(self, request: ChatRequest) -> ChatReply:
        """The reply to `request`, a pure function of it; cut at `max_tokens` like any model's.

        Raises BadInput for a pin parameter it does not know.
        """
        habits = habits_of(request.pin.parameters, self.habits)
        content = [[message.role, message.content] for message in request.messages]
        path: tuple[Part, ...] = (request.seed, MODEL_ID, sha256_json(content))
        return _reply(request, self._text(read_request(request.messages), habits, *path))

    def _text(self, read: Request | None, habits: Habits, *path: Part) -> str:
        if read is None:
            return "I find no block and no length limits in this request."
        single = len(read.blocks) == 1
        block = rewrite(read, habits, *path) if single else merge(read, *path)
        preamble = choice(_PREAMBLES, *path, "preamble")
        if uniform(*path, "unusable") < self.unusable:
            return choice(_SPOILT, *path, "how")(preamble, block)
        return _well_formed(preamble, block)


def simulated_models(doubles: Mapping[str, ChatModel] | None = None) -> dict[str, ChatModel]:
    """The models that run in process, by id; `doubles` stand in for some of them."""
    own: dict[str, ChatModel] = {
        JUDGE_ID: SimulatedJudge(),
        PLACEBO_ID: SimulatedPlacebo(),
        MODEL_ID: SimulatedReflector(),
    }
    return {**own, **(doubles or {})}


def _well_formed(preamble: str, block: str) -> str:
    return f"{preamble}\n\n{OPEN}\n{block}\n{CLOSE}\n"


def _without_markers(preamble: str, block: str) -> str:
    return f"{preamble}\n\n{block}\n"


def _empty(preamble: str, block: str) -> str:
    del block
    return f"{preamble}\n\n{OPEN}\n\n{CLOSE}\n"


def _two_blocks(preamble: str, block: str) -> str:
    return _well_formed(preamble, block) + "\nOr, if you prefer:\n" + _well_formed("", block)


def _silent(preamble: str, block: str) -> str:
    del preamble, block
    return ""


_SPOILT: tuple[Callable[[str, str], str], ...] = (_without_markers, _empty, _two_blocks, _silent)
"""The ways in which a reply can be of no use."""


def habits_of(parameters: Mapping[str, Any], habits: Habits = Habits()) -> Habits:  # noqa: B008
    """`habits` as the parameters of a pin change them.

    Raises BadInput for a parameter it does not know, or a value it cannot have.
    """
    unknown = sorted(set(parameters) - {"max_edits"})
    if unknown:
        raise BadInput.one(MODEL_ID, f"no parameter {', '.join(unknown)}; it takes max_edits")
    max_edits = parameters.get("max_edits", habits.max_edits)
    if not isinstance(max_edits, int) or isinstance(max_edits, bool) or max_edits < 1:
        raise BadInput.one(MODEL_ID, f"max_edits is a whole number from 1 on, not {max_edits!r}")
    return replace(habits, max_edits=max_edits)


def _reply(request: ChatRequest, text: str) -> ChatReply:
    limit = request.budget.max_tokens * CHARACTERS_A_TOKEN
    finish = StopReason.STOP if len(text) <= limit else StopReason.LENGTH
    text = text[:limit]
    prompt = sum(estimate_tokens(message.content) for message in request.messages)
    completion = estimate_tokens(text)
    usd = cost_usd(request.pin, prompt, completion)
    return ChatReply(
        text=text,
        finish=finish,
        usage=Usage(prompt=prompt, completion=completion),
        usd=0.0 if usd is None else usd,  # a program's price is known: nothing
        model=MODEL_ID,
        raw=text,
    )
