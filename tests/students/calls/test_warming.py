import asyncio

from tests.support.calls import ScriptedModel, reply, spec

from heldout.splits.errors import InfrastructureFailure
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.retry import Retry
from heldout.students.calls.store import CallStore
from heldout.students.calls.warming import SHORTEST, STAYS_S, Prefixes

LONG = "transcript " * 500


class Remote(ScriptedModel):
    """A model outside this process that notes how many of its requests were under way."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.at_start = []

    async def complete(self, request):
        self.at_start.append(self.now)
        return await super().complete(request)

    async def aclose(self):
        """Nothing to close."""


def ask(tmp_path, model, specs, retry=None):
    store = CallStore(f"sqlite:///{tmp_path}/calls.sqlite", "run")
    caller = Caller({"test/judge": model}, store, Ledger(Caps()), concurrency=16, retry=retry)

    async def scene():
        return await asyncio.gather(*map(caller.call, specs), return_exceptions=True)

    found = asyncio.run(scene())
    store.close()
    return found


def test_one_call_a_prefix_goes_ahead_and_the_rest_fan_out(tmp_path):
    model = Remote(delay_s=0.02)
    notes = [spec(f"note {n}", text=f"case {case} {LONG}") for case in "ab" for n in range(4)]
    ask(tmp_path, model, notes)
    # Two consultations: their first calls side by side, then the other six.
    assert model.at_start == [0, 1, 0, 1, 2, 3, 4, 5]
    first = [request.messages[0].content[:6] for request in model.requests[:2]]
    assert sorted(first) == ["case a", "case b"]


def test_prompts_too_short_to_be_cached_wait_for_nobody(tmp_path):
    model = Remote(delay_s=0.02)
    ask(tmp_path, model, [spec(f"note {n}") for n in range(4)])
    assert model.at_start == [0, 1, 2, 3]


def test_models_in_this_process_wait_for_nobody(tmp_path):
    model = ScriptedModel(delay_s=0.02)
    ask(tmp_path, model, [spec(f"note {n}", text=LONG) for n in range(4)])
    assert model.highest == 4


def test_when_the_first_fails_another_goes_ahead(tmp_path):
    def answer(request, number):
        if number == 0:
            raise InfrastructureFailure("gone", retry_after=60)
        return reply()

    model = Remote(answer, delay_s=0.01)
    notes = [spec(f"note {n}", text=LONG) for n in range(4)]
    found = ask(tmp_path, model, notes, Retry(deadline_s=1))
    assert sum(isinstance(result, InfrastructureFailure) for result in found) == 1
    assert model.at_start == [0, 0, 0, 1]


def test_a_prefix_is_warm_for_a_while_after_its_last_use():
    now = [0.0]
    prefixes = Prefixes(lambda: now[0])
    call = spec("note", text="x" * SHORTEST)

    async def scene():
        first = await prefixes.turn(call)
        prefixes.warmed(first, answered=True)
        turns = []
        for wait in (STAYS_S - 1, STAYS_S - 1, STAYS_S + 1):
            now[0] += wait
            turns.append(await prefixes.turn(call) is None)
        return turns

    assert asyncio.run(scene()) == [True, True, False]
