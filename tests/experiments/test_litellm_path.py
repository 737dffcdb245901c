"""The simulated models through LiteLLM are the simulated models in process, on 200 calls."""

import asyncio

import pytest
from tests.soak.simulated_provider import network_settings, write_pins
from tests.support.litellm_provider import register_simulated

from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions
from heldout.gepa.record.remarks import OpenedEvent
from heldout.gepa.record.run import Run
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.synthetic import draw
from heldout.students.calls.store import CallStore
from heldout.students.frames import load_frame
from heldout.students.models import litellm_client
from heldout.students.models.chat import Budget, ChatRequest, Message
from heldout.students.models.clients import model_faults
from heldout.students.models.litellm_client import LiteLLMModel, check_parameters
from heldout.students.models.pins import load_pins, simulated_pins

BLOCKS = (
    "Judge whether the note is faithful and complete.",
    "First list every fact of the transcript. Then check each fact against the note.",
)


@pytest.fixture(scope="module")
def requests(tmp_path_factory, pytestconfig):
    """190 questions to judges of three frames, and those a campaign asked its reflector."""
    pins = {name: model.pin for name, model in simulated_pins().items()}
    notes = [n for c in draw(40, seed=3).benchmark.consultations for n in c.notes]
    made = []
    for number in range(200):
        note, block = notes[number % len(notes)], BLOCKS[number % 2]
        name = ("whole_note", "criterion_score", "gap_list")[number % 3]
        slots = {"transcript": note.transcript, "note": note.text, "block": block}
        message = Message("user", load_frame(name).render(slots))
        pin = pins["sim/placebo" if number % 10 == 9 else "sim/judge"]
        budget = Budget((300, 1500)[number % 2], "low" if number % 7 == 0 else None)
        made.append(ChatRequest(pin, (message,), budget, number))
    return made[:190] + reflections(tmp_path_factory.mktemp("run"), pytestconfig, pins)


def reflections(folder, pytestconfig, pins):
    config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
    small = ("benchmark.synthetic.consultations=14", "search.iterations=10", "search.stall=10")
    settings = (*small, "tracking.enabled=false")
    ended = start(prepare(config, settings, folder / "run"), folder / "run", RunOptions(quiet=True))
    run_id = ended.run.run_id
    store = CallStore(f"sqlite:///{ended.files.store}", run_id)
    asked = [call for call in store.calls() if call.messages is not None][:10]
    store.close()
    pin = pins["sim/reflector"]
    return [
        ChatRequest(
            pin, call.conversation, Budget(call.max_tokens, call.reasoning_effort), call.seed
        )
        for call in asked
    ]


def test_replies_are_equal_on_200_calls(requests):
    assert len(requests) == 200
    models = simulated_models()
    register_simulated(models, {name: model.pin for name, model in simulated_pins().items()})

    async def scene():
        door, texts = LiteLLMModel(), set()
        for request in requests:
            direct = await models[request.pin.id].complete(request)
            through = await door.complete(request)
            assert (through.text, through.reasoning) == (direct.text, direct.reasoning)
            assert (through.finish, through.usage) == (direct.finish, direct.usage)
            assert (through.usd, through.model) == (direct.usd, direct.model)
            texts.add(direct.text)
        return texts

    assert len(asyncio.run(scene())) > 50


def test_a_run_is_on_record_before_its_library_is_loaded(tmp_path, monkeypatch, pytestconfig):
    """Loading takes seconds; a run directory that is there says from the start what runs in it."""

    class Loaded(Exception):
        """Stops the run where the library would be loaded."""

    def loading():
        events = [type(event.body) for event in Run.at(tmp_path / "run").events]
        assert events == [OpenedEvent]
        raise Loaded

    monkeypatch.setattr(litellm_client, "litellm_module", loading)
    pins = tmp_path / "models.yaml"
    write_pins(pins, "http://127.0.0.1:9/v1", door="litellm")
    config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
    checked = prepare(config, network_settings(pins), tmp_path / "run")
    with pytest.raises(Loaded):
        start(checked, tmp_path / "run", RunOptions(quiet=True))


def test_the_shipped_pins_are_sound(pytestconfig):
    pins = load_pins(pytestconfig.rootpath / "configs" / "models.yaml")
    for model in pins.models.values():
        for effort in model.efforts or ():
            assert model_faults(model, Budget(20_000, effort), "student") == []
        if model.client == "litellm":
            assert check_parameters(model, Budget(1000), "student") == []
        assert model.pin.priced
    local = load_pins(pytestconfig.rootpath / "configs" / "local_models.yaml")
    assert {"local/judge", "local/reflector"} <= set(local.models)
