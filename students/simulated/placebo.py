"""The placebo, `sim/placebo`: scores that differ from block to block and know nothing of it."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

from heldout.splits.randomness import uniform
from heldout.students.models.chat import ChatReply, ChatRequest
from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.effects import EFFECTS
from heldout.students.simulated.judge import reply_from
from heldout.students.simulated.prompt import prompt_of
from heldout.students.simulated.reading import digest_of

PLACEBO_ID = "sim/placebo"
_USUAL_WORDS = 150


class SimulatedPlacebo:
    """Scores a note by what it is and by noise drawn from the whole message list.

    The first part grows a little with the length of the note and does not see the block, so every
    candidate has the same true quality; the noise differs from block to block and, above
    temperature 0, from seed to seed.
    """

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer `request`."""
        return self.answer(request)

    def answer(self, request: ChatRequest) -> ChatReply:
        """The reply, without waiting."""
        prompt = prompt_of(request.messages)
        if prompt is None or '"score"' not in prompt.contract:
            return reply_from(Draft("I cannot tell what is asked of me.", 0.0), request)
        score = _score(request, prompt.note)
        text = json.dumps({"assessment": "An overall impression.", "score": score})
        return reply_from(Draft(text, 0.0), request)


def _score(request: ChatRequest, note: str) -> float:
    table = EFFECTS
    words = max(1, len(note.split()))
    centre = table.placebo_centre + table.placebo_slope * math.log(words / _USUAL_WORDS)
    messages = digest_of("\x1f".join(f"{m.role}\x1e{m.content}" for m in request.messages))
    point = uniform("placebo", messages, request.seed if request.pin.temperature > 0 else 0)
    noise = NormalDist(0.0, table.placebo_spread).inv_cdf(min(max(point, 1e-12), 1 - 1e-12))
    return round(min(10.0, max(0.0, centre + noise)), 1)
