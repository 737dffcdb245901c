"""Judged pairs, hostile reflectors and a guard for tests of the reflectors."""

from __future__ import annotations

from tests.support.notes import consultation

from heldout.reflectors.guard import Guard, own_texts
from heldout.reflectors.prompts import Terms
from heldout.reflectors.reflector import JudgedPair
from heldout.reflectors.reply import CLOSE, OPEN
from heldout.splits.protected import protect
from heldout.students.frames import load_frame
from heldout.students.models.chat import (
    Budget,
    ChatReply,
    ChatRequest,
    Message,
    ModelPin,
    StopReason,
    Usage,
)
from heldout.students.student import Judgement, Outcome

SEED = "Read the transcript and then the note. Give it a score that a colleague could rely on."
SALT = "grains of it"
WHOLE = load_frame("whole_note")
CHECK = load_frame("check")
TERMS = Terms(WHOLE)
PIN = ModelPin("sim/reflector")
BUDGET = Budget(16_000, "medium")


def judgement(score, assessment="", verdicts=None, facts=None, outcome=Outcome.OK):
    """One judgement."""
    return Judgement(score, outcome, ("k",), assessment, verdicts=verdicts, facts=facts)


def pairs(numbers=(0,), errored=8.0, clean=8.0, said="It reads well."):
    """Every errored note of the made consultations `numbers`, judged at these scores."""
    return tuple(
        JudgedPair(note, judgement(errored, said), c.clean[0], judgement(clean, said))
        for c in map(consultation, numbers)
        for note in c.errored
    )


def guard(*, numbers=(0, 1), seeds=(SEED,), cap=TERMS.cap):
    """A guard over two made consultations; of three, what they share would be a turn of phrase."""
    protected = protect(map(consultation, numbers), own=own_texts(WHOLE, seeds), salt=SALT)
    return Guard(WHOLE, cap, protected)


def enclosed(block):
    """A reply that keeps the contract."""
    return f"Here it is.\n{OPEN}\n{block}\n{CLOSE}\n"


def request(text, seed=1, pin=PIN, budget=BUDGET):
    """A request of one user message."""
    return ChatRequest(pin, (Message("user", text),), budget, seed)


def answer(model, text, seed=1, **kwargs):
    """The reply text of the simulated reflector to one user message."""
    return model.answer(request(text, seed, **kwargs)).text


class Hostile:
    """A chat model that copies what it was sent into the block: all of it, or a slice of it.

    `start` and `stop` are positions among the words of the request; `flat` copies on one line.
    """

    def __init__(self, start=None, stop=None, flat=False):
        self._words, self._flat = slice(start, stop), flat

    def copy(self, text):
        """The reply to a request with this text."""
        if self._flat or self._words != slice(None, None):
            text = " ".join(text.split()[self._words])
        return enclosed(text)

    async def complete(self, request):
        reply = self.copy(request.messages[-1].content)
        return ChatReply(reply, StopReason.STOP, Usage(), 0.0, "hostile")
