"""The first calls of a run: every connected model answers one before held-out is looked at.

What a provider will never answer (a rejected key, an unknown model, a parameter it does not take)
is told then, and nothing is left of the start. What may pass is asked again as always. The calls
are paid and stored like all others, apart from those of the search, whose figures they are no part
of; a run that goes on finds its own and asks nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from heldout.experiments.campaigns.examination import Checked, budget_of, uses_of
from heldout.experiments.campaigns.parts import build_student
from heldout.experiments.checking.checklist import demand
from heldout.experiments.checking.models import KEYS, TAKEN, ModelsAsked
from heldout.gepa.campaign import Campaign
from heldout.gepa.record.remarks import AnsweredEvent, FirstAnswer
from heldout.gepa.spending import Spent
from heldout.splits.benchmark import Note
from heldout.splits.errors import BadInput, CallRefused, Fault, HeldoutError, InfrastructureFailure
from heldout.splits.randomness import call_seed
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.caller import Caller
from heldout.students.calls.session import all_answers
from heldout.students.calls.store import Reuse
from heldout.students.models.chat import Message, ModelPin
from heldout.students.models.pins import ClientKind, PinnedModel
from heldout.students.structured import probed

START = "start"
"""Occasion of these calls, and the item of the reflector's."""
Ask = Callable[[], Awaitable[Fault | None]]
READY = "This is a test of the connection. Reply with the one word: ready"
READY_OBJECT = 'This is a test of the connection. Reply with this JSON object: {"answer": "ready"}'


def first_calls(checked: Checked, campaign: Campaign, caller: Caller) -> None:
    """Have each connected model answer, and put on record what came back.

    Raises BadInput where one refuses; Stopped, CircuitOpen or InfrastructureFailure as any call.
    """
    # Checked before, where a command began the run; here for whoever planned it without.
    demand(ModelsAsked(uses_of(checked.config, checked.student, checked.reflector)), (KEYS, TAKEN))
    begun = any(
        not event.is_remark or isinstance(event.body, AnsweredEvent)
        for event in campaign.journal.on_record
    )
    # A replay has the calls of a run that was answered; one that goes on was answered before.
    if begun or caller.store.reuse is Reuse.REPLAY:
        return
    asked = _questions(checked, campaign, caller)
    if not asked:
        return
    answers: list[object] = []
    answers += campaign.runner.run(all_answers([ask() for ask in asked.values()]))
    failed = [answer for answer in answers if isinstance(answer, HeldoutError)]
    if failed:
        raise failed[0]
    refused = {fault.message: fault for fault in answers if isinstance(fault, Fault)}
    if refused:
        raise StartRefused(list(refused.values()))
    campaign.journal.remark(AnsweredEvent(models=_answers(checked, caller)))


def _questions(checked: Checked, campaign: Campaign, caller: Caller) -> dict[str, Ask]:
    """What is asked, by role: a judging of the baseline, and one word of the reflector."""
    config, reflector = checked.config, checked.reflector
    student = build_student(config, checked.student.pin, caller, occasion=START)
    note = shortest(campaign)
    block = next(seed.block for seed in campaign.seeds if seed.name == campaign.baseline)

    async def judge() -> Fault | None:
        return await _refusal(
            "student", checked.student, student.judge(block, note, campaign.budget, 0)
        )

    async def reflect() -> Fault | None:
        message, pin = ready(reflector.pin)
        spec = CallSpec(
            stage=Stage.READY,
            item=START,
            messages=(message,),
            pin=pin,
            budget=budget_of(config.reflector),
            seed=call_seed(config.seed, START, Stage.READY, 0),
            occasion=START,
        )
        return await _refusal("reflector", reflector, caller.call(spec))

    found: dict[str, Ask] = {}
    if _connected(checked.student):
        found["student"] = judge
    same = (reflector.pin, budget_of(config.reflector)) == (checked.student.pin, campaign.budget)
    if _connected(reflector) and not (same and "student" in found):
        found["reflector"] = reflect
    return found


def ready(pin: ModelPin) -> tuple[Message, ModelPin]:
    """The smallest question to a model, and its pin with the structure that answers will have."""
    asked = probed(pin)
    return Message("user", READY if asked == pin else READY_OBJECT), asked


def shortest(campaign: Campaign) -> Note:
    """The reflect note that is cheapest to judge."""
    notes = [note for consultation in campaign.reflect for note in consultation.notes]
    return min(notes, key=lambda note: (len(note.transcript) + len(note.text), note.id))


async def _refusal(role: str, model: PinnedModel, answer: Awaitable[object]) -> Fault | None:
    """Wait for `answer`: None, or the fault that names the model where it refuses for good."""
    try:
        await answer
    except CallRefused as refused:
        kind, detail = refused.kind, refused.detail
    except InfrastructureFailure as failure:
        if failure.transient:
            raise
        kind, detail = failure.kind, str(failure)
    else:
        return None
    message = f"refused its first call ({kind}): {detail}; nothing was started"
    return Fault(f"{role} {model.pin.id}", message)


class StartRefused(BadInput):
    """A model refused its first call, so that nothing of the start is kept."""

    def __reduce__(self) -> tuple[type[BadInput], tuple[tuple[Fault, ...]]]:
        return (StartRefused, (self.faults,))


def _connected(model: PinnedModel) -> bool:
    return model.client is not ClientKind.SIMULATED


def _answers(checked: Checked, caller: Caller) -> tuple[FirstAnswer, ...]:
    """What came back for each model, from the stored calls."""
    calls = [call for call in caller.store.calls() if call.occasion == START]
    found: list[FirstAnswer] = []
    for role, model in (("student", checked.student), ("reflector", checked.reflector)):
        ready = role == "reflector"
        own = [c for c in calls if (c.stage == Stage.READY) is ready and _connected(model)]
        if own:
            spent = sum((Spent(1, c.reply.usage.total, c.reply.usd) for c in own), Spent())
            found.append(
                FirstAnswer(
                    role=role,
                    model=model.pin.id,
                    served=own[-1].reply.model,
                    finish=own[-1].reply.finish,
                    latency_s=round(sum(c.latency_s for c in own), 3),
                    spent=spent.rounded(),
                )
            )
    return tuple(found)
