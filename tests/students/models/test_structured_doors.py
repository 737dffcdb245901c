"""What a pin says of structured answers reaches the server alike through both doors."""

import asyncio
import json

import pytest
import yaml
from tests.benchmarks.loopback import Answer, completion, serving

from heldout.splits.errors import BadInput
from heldout.students.contracts import ScoreContract
from heldout.students.models.chat import Budget, ChatRequest, Message, Structured
from heldout.students.models.clients import model_faults, open_models
from heldout.students.models.pins import load_pins
from heldout.students.structured import constrained, grammar

WORDS = (Message("user", "Answer with a JSON object."),)


def pinned(folder, api_base="http://127.0.0.1:1/v1", **fields):
    path = folder / "models.yaml"
    entry = {"model": "openai/m", "api_base": api_base, **fields}
    path.write_text(yaml.safe_dump({"models": {"mine": entry}}))
    return load_pins(path).find("mine", "student.model")


@pytest.mark.parametrize("door", ["direct", "litellm"])
@pytest.mark.parametrize("form", list(Structured))
def test_both_doors_send_the_same(tmp_path, monkeypatch, door, form):
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    seen = []

    def answer(request):
        seen.append(request.body)
        return Answer(json.dumps(completion('{"score": 7}')).encode())

    async def ask(model, request):
        async with open_models([model], {}) as opened:
            return await opened[model.pin.id].complete(request)

    with serving(answer) as server:
        model = pinned(tmp_path, server.api_base, door=door, structured=form.value)
        pin = constrained(model.pin, ScoreContract(), WORDS, 300)
        reply = asyncio.run(ask(model, ChatRequest(pin, WORDS, Budget(300), 1)))
    assert reply.text == '{"score": 7}'
    schema = ScoreContract().schema(300)
    form_of = {"name": "answer", "strict": True, "schema": schema}
    assert {name: seen[0].get(name) for name in ("response_format", "grammar")} == {
        Structured.JSON_SCHEMA: {
            "response_format": {"type": "json_schema", "json_schema": form_of},
            "grammar": None,
        },
        Structured.JSON_OBJECT: {"response_format": {"type": "json_object"}, "grammar": None},
        Structured.GRAMMAR: {"response_format": None, "grammar": grammar(schema)},
        Structured.NONE: {"response_format": None, "grammar": None},
    }[form]


def test_an_endpoint_of_ones_own_may_be_told_lengths(tmp_path):
    assert pinned(tmp_path, structured="json_schema").pin.bounded
    path = tmp_path / "hosted.yaml"
    path.write_text("models: {openai/gpt-5: {structured: json_schema}}")
    hosted = load_pins(path).find("openai/gpt-5", "student.model").pin
    assert (hosted.structured, hosted.bounded) == (Structured.JSON_SCHEMA, False)


def test_any_other_word_is_refused(tmp_path):
    with pytest.raises(BadInput, match="structured"):
        pinned(tmp_path, structured="xml")


def test_what_a_hosted_model_does_not_take_is_known_before_anything_is_sent(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text("models: {openai/gpt-5: {structured: grammar}}")
    with pytest.raises(BadInput, match="it needs an api_base"):
        load_pins(path)
    names = ("openai/gpt-5", "replicate/meta/meta-llama-3-8b")
    entries = {name: {"structured": "json_schema"} for name in names}
    path.write_text(yaml.safe_dump({"models": entries}))
    pins = load_pins(path)
    assert model_faults(pins.find("openai/gpt-5", "x"), Budget(300), "student") == []
    (fault,) = model_faults(
        pins.find("replicate/meta/meta-llama-3-8b", "x"), Budget(300), "student"
    )
    assert "response_format" in str(fault)
