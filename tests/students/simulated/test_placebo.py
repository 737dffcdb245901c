"""The placebo knows nothing of the block and still scores differently under each."""

import asyncio
import json
import statistics

from heldout.students.frames import load_frame
from heldout.students.models.chat import Budget, ChatRequest, Message, ModelPin, StopReason
from heldout.students.simulated import PLACEBO_ID, SimulatedPlacebo
from heldout.students.simulated.effects import EFFECTS

FRAME = load_frame("whole_note")
MODEL = SimulatedPlacebo()
WORDS = "word " * 150


def score(block, note=WORDS, *, seed=1, temperature=1.0):
    prompt = FRAME.render({"transcript": "[doctor] Hello.", "note": note, "block": block})
    pin = ModelPin(PLACEBO_ID, temperature)
    request = ChatRequest(pin, (Message("user", prompt),), Budget(1500), seed)
    reply = asyncio.run(MODEL.complete(request))
    assert reply.finish is StopReason.STOP
    assert reply.usd == 0.0
    return json.loads(reply.text)["score"]


def test_it_repeats_itself():
    assert score("Judge.") == score("Judge.")


def test_noise_comes_from_the_block_and_from_the_seed():
    assert len({score(f"Judge {n}.") for n in range(40)}) > 5
    assert len({score("Judge.", seed=n) for n in range(40)}) > 5
    assert len({score("Judge.", seed=n, temperature=0) for n in range(40)}) == 1


def test_the_noise_has_its_declared_centre_and_spread():
    drawn = [score(f"Judge {n}.") for n in range(800)]
    error = EFFECTS.placebo_spread / 800**0.5
    assert abs(statistics.mean(drawn) - EFFECTS.placebo_centre) < 4 * error
    assert abs(statistics.stdev(drawn) - EFFECTS.placebo_spread) < 4 * error


def test_no_block_is_better_than_another():
    plain = [score("Judge.", f"{WORDS}{n}") for n in range(400)]
    asking = [score("List every fact, then check each.", f"{WORDS}{n}") for n in range(400)]
    error = EFFECTS.placebo_spread * (2 / 400) ** 0.5
    assert abs(statistics.mean(plain) - statistics.mean(asking)) < 4 * error


def test_longer_notes_score_a_little_higher():
    short = [score(f"Judge {n}.", "word " * 100) for n in range(100)]
    long = [score(f"Judge {n}.", "word " * 300) for n in range(100)]
    assert statistics.mean(long) > statistics.mean(short)


def test_another_contract_is_not_answered():
    prompt = load_frame("extract").render({"transcript": "[doctor] Hello."})
    request = ChatRequest(ModelPin(PLACEBO_ID), (Message("user", prompt),), Budget(100), 1)
    assert "{" not in asyncio.run(MODEL.complete(request)).text
