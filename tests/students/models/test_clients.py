"""Both doors to real servers: the direct one and LiteLLM, against one server on loopback."""

import asyncio
import json
import os
import re
import subprocess
import sys

import pytest
from tests.benchmarks.loopback import Answer, completion, serving
from tests.support.litellm_provider import register_simulated
from tests.support.provider_replies import NATIVE, OPENAI_LIKE

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.chat import (
    Budget,
    ChatReply,
    ChatRequest,
    Message,
    ModelPin,
    StopReason,
    Usage,
)
from heldout.students.models.clients import model_faults, open_models
from heldout.students.models.litellm_client import LiteLLMModel, litellm_module, priced
from heldout.students.models.openai_client import OpenAICompatibleModel
from heldout.students.models.pins import ClientKind, PinnedModel, load_pins

DOORS = [OpenAICompatibleModel, LiteLLMModel]
KEY = "orchid-8842-canary"
PIN = ModelPin("openai/m", 0.7, {"top_p": 0.9}, 1.0, 10.0)


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "HOSTED_VLLM", "TEST"):
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)


def ask(door, respond, *, pin=PIN, budget=Budget(50), api=lambda s: s.api_base):  # noqa: B008
    """The reply or fault, and the requests the server saw."""
    seen = []

    def recording(request):
        seen.append(request)
        return respond(request)

    async def scene(server):
        model = door(api(server), "TEST_API_KEY")
        try:
            message = (Message("system", "be brief"), Message("user", "judge"))
            return await model.complete(ChatRequest(pin, message, budget, 77))
        except InfrastructureFailure as error:
            return error
        finally:
            await model.aclose()

    with serving(recording) as server:
        return asyncio.run(scene(server)), seen


def body(text="fine"):
    return Answer(json.dumps(completion(text)).encode())


@pytest.mark.parametrize("door", DOORS)
def test_what_is_sent_is_what_was_asked_and_nothing_else(door):
    reply, (sent,) = ask(door, lambda _: body(), budget=Budget(50, "low"))
    assert reply.text == "fine"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "judge"},
        ],
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 77,
        "max_tokens": 50,
        "reasoning_effort": "low",
    }


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("shape", OPENAI_LIKE, ids=lambda shape: shape.name)
def test_documented_shapes_come_out_the_same_through_both_doors(door, shape):
    respond = lambda _: Answer(json.dumps(shape.body).encode())  # noqa: E731
    reply, sent = ask(door, respond, pin=ModelPin(shape.model))
    assert isinstance(reply, ChatReply), reply
    assert (reply.text, reply.reasoning) == (shape.text, shape.reasoning)
    assert (reply.finish, reply.usage, reply.usd) == (shape.finish, shape.usage, None)
    assert len(sent) == 1


@pytest.mark.parametrize("shape", NATIVE, ids=lambda shape: shape.name)
def test_providers_with_a_protocol_of_their_own(shape):
    respond = lambda _: Answer(json.dumps(shape.body).encode())  # noqa: E731
    reply, _ = ask(
        LiteLLMModel,
        respond,
        pin=ModelPin(shape.model),
        api=lambda server: f"http://127.0.0.1:{server.port}",
    )
    assert isinstance(reply, ChatReply), reply
    assert (reply.text, reply.reasoning) == (shape.text, shape.reasoning)
    assert (reply.finish, reply.usage) == (shape.finish, shape.usage)


FAULTS = [
    (
        Answer(b'{"error": {"message": "slow"}}', 429, (("Retry-After", "120"),)),
        "rate_limit",
        120.0,
    ),
    (Answer(b'{"error": {"message": "slow"}}', 429), "rate_limit", None),
    (Answer(b'{"error": {"message": "oops"}}', 500), "server", None),
    (Answer(b'{"error": {"message": "busy"}}', 503), "server", None),
    (Answer(json.dumps({**completion("x"), "choices": []}).encode()), "no_choices", None),
    (Answer(json.dumps({**completion("x"), "usage": None}).encode()), "no_usage", None),
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("answer", "kind", "wait"), FAULTS)
def test_faults_are_named_and_sent_once(door, answer, kind, wait):
    fault, sent = ask(door, lambda _: answer)
    assert isinstance(fault, InfrastructureFailure)
    assert (fault.kind, fault.transient, fault.retry_after) == (kind, True, wait)
    assert len(sent) == 1


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "answer",
    [
        Answer(json.dumps(completion("x" * 500)).encode(), cut=True),
        Answer(b"<html>gateway</html>", headers=(("Content-Type", "text/html"),)),
        Answer(b'{"id": "torn'),
    ],
)
def test_broken_bodies_are_transient_and_sent_once(door, answer):
    fault, sent = ask(door, lambda _: answer)
    assert isinstance(fault, InfrastructureFailure)
    assert fault.transient
    assert fault.kind in {"reset", "not_json", "server", "connect", "no_choices"}
    assert len(sent) == 1


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "invalid_api_key", "auth"),
        (404, "model_not_found", "not_found"),
        (400, "unsupported_value", "bad_request"),
        (400, "context_length_exceeded", "context_window"),
    ],
)
def test_what_will_never_work_is_not_transient(door, status, code, kind):
    error = {"error": {"message": f"{code}: no", "code": code, "type": "invalid_request_error"}}
    fault, sent = ask(door, lambda _: Answer(json.dumps(error).encode(), status))
    assert (fault.kind, fault.transient) == (kind, False)
    assert len(sent) == 1


@pytest.mark.parametrize("door", DOORS)
def test_a_prompt_turned_down_by_a_filter_is_a_refusal(door):
    error = {
        "error": {
            "message": "The response was filtered due to the prompt triggering "
            "Azure OpenAI's content management policy.",
            "code": "content_filter",
        }
    }
    reply, _ = ask(door, lambda _: Answer(json.dumps(error).encode(), 400))
    assert isinstance(reply, ChatReply)
    assert (reply.finish, reply.text) == (StopReason.FILTER, "")


@pytest.mark.parametrize("door", DOORS)
def test_a_server_that_is_not_there_is_a_fault_of_connection(door):
    fault, _ = ask(door, lambda _: body(), api=lambda _: "http://127.0.0.1:9/v1")
    assert isinstance(fault, InfrastructureFailure)
    assert fault.transient
    assert fault.kind in {"connect", "server"}


@pytest.mark.parametrize("door", DOORS)
def test_a_key_that_is_echoed_reaches_neither_reply_nor_message(door):
    echo = completion(f"your key is {KEY}")
    echo["debug"] = {"authorization": f"Bearer {KEY}"}
    echo["choices"][0]["message"]["reasoning_content"] = KEY
    reply, _ = ask(door, lambda _: Answer(json.dumps(echo).encode()))
    assert KEY not in repr(reply)
    assert "your key is" in reply.text
    said = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    fault, _ = ask(door, lambda _: Answer(json.dumps(said).encode(), 401))
    assert KEY not in str(fault)
    assert "Incorrect API key" in str(fault)


def test_connections_are_kept_and_one_request_never_waits_for_another():
    respond = lambda _: Answer(json.dumps(completion("x")).encode(), delay_s=0.05)  # noqa: E731

    async def scene(server):
        model = OpenAICompatibleModel(server.api_base)
        request = ChatRequest(PIN, (Message("user", "x"),), Budget(5), 1)
        for _ in range(3):
            await asyncio.gather(*(model.complete(request) for _ in range(20)))
        await model.aclose()

    with serving(respond) as server:
        asyncio.run(asyncio.wait_for(scene(server), 2.0))
        assert (server.requests, server.connections) == (60, 20)


def litellm_pin(model, temperature=1.0, **parameters):
    return PinnedModel(model, ModelPin(model, temperature, parameters), ClientKind.LITELLM)


@pytest.mark.parametrize(
    ("model", "budget", "said"),
    [
        (litellm_pin("openai/gpt-4o"), Budget(100, "low"), "reasoning_effort.*gpt-4o"),
        (litellm_pin("openai/gpt-5"), Budget(100, "none"), "none.*gpt-5.*nearest is 'minimal'"),
        (litellm_pin("openai/gpt-5", 0.5), Budget(100), "gpt-5.*temperature=0.5"),
        (litellm_pin("openai/o3", 0.5), Budget(100), "o3.*temperature=0.5"),
        (
            litellm_pin("anthropic/claude-sonnet-4-5"),
            Budget(100, "high"),
            "claude-sonnet-4-5.*'high' is 4096 thinking tokens.*max_tokens = 100",
        ),
        (
            litellm_pin("anthropic/claude-sonnet-4-5", 0.5),
            Budget(9000, "high"),
            "'high' is taken at temperature 1 only",
        ),
        (
            litellm_pin("anthropic/claude-sonnet-4-5"),
            Budget(100, "none"),
            "'none' changes nothing",
        ),
        (
            litellm_pin("anthropic/claude-sonnet-4-5", logit_bias={"1": 1}),
            Budget(100),
            "logit_bias",
        ),
        (litellm_pin("nosuch/model"), Budget(100), "nosuch/model"),
    ],
)
def test_what_a_model_does_not_take_is_refused_before_anything_is_sent(model, budget, said):
    faults = model_faults(model, budget, "student.model")
    assert faults
    text = " ".join(map(str, faults))
    assert text.startswith(f"student.model {model.pin.id}")
    assert re.search(said, text), text


@pytest.mark.parametrize(
    ("model", "budget"),
    [
        (litellm_pin("openai/gpt-5"), Budget(100, "high")),
        (litellm_pin("openai/o3"), Budget(100, "low")),
        (litellm_pin("openai/gpt-4o", 0.2), Budget(100)),
        (litellm_pin("anthropic/claude-sonnet-4-5"), Budget(9000, "high")),
        (litellm_pin("deepseek/deepseek-reasoner"), Budget(100, "high")),
    ],
)
def test_what_a_model_takes_passes(model, budget):
    assert model_faults(model, budget, "student.model") == []


def test_prices_are_from_the_pin_else_from_litellms_table_else_unknown():
    known = priced(litellm_pin("openai/gpt-4o"))
    assert known.pin.usd_per_million_prompt > 0
    assert known.priced_on.startswith("LiteLLM ")
    own = PinnedModel("x", ModelPin("openai/gpt-4o", 1, {}, 9.0, 9.0), ClientKind.LITELLM)
    assert priced(own) == own
    assert not priced(litellm_pin("openai/nobody-knows")).pin.priced
    # The same name at an endpoint of one's own is another model.
    at_home = PinnedModel("x", ModelPin("openai/gpt-4o"), ClientKind.DIRECT, "http://127.0.0.1/v1")
    assert not priced(at_home).pin.priced
    assert not priced(litellm_pin("hosted_vllm/gpt-4o")).pin.priced


def test_models_are_opened_by_their_pins(tmp_path):
    class Own:
        async def complete(self, request):
            return ChatReply("own", StopReason.STOP, Usage(1, 1), 0.0, "sim")

    own = Own()

    async def scene():
        pins = load_pins(None)
        direct = PinnedModel("d", ModelPin("openai/d"), ClientKind.DIRECT, "http://127.0.0.1:9/v1")
        models = [pins.find("sim/judge", "x"), direct, litellm_pin("openai/gpt-4o")]
        async with open_models(models, {"sim/judge": own}) as opened:
            return {name: type(model) for name, model in opened.items()}

    assert asyncio.run(scene()) == {
        "sim/judge": Own,
        "openai/d": OpenAICompatibleModel,
        "openai/gpt-4o": LiteLLMModel,
    }


def test_litellm_is_imported_only_when_a_model_needs_it():
    code = (
        "import sys, heldout.students.models.clients\n"
        "assert 'litellm' not in sys.modules and 'openai' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_litellm_is_told_to_keep_off_the_network_unless_the_user_said_otherwise(monkeypatch):
    monkeypatch.setenv("LITELLM_OFFLINE_MODE", "False")
    litellm = litellm_module()
    assert os.environ["LITELLM_OFFLINE_MODE"] == "False"
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"]
    assert litellm.drop_params is False


class Echo:
    """A simulated model that answers with everything it was asked."""

    async def complete(self, request):
        asked = [
            [m.role + m.content for m in request.messages],
            request.pin.temperature,
            dict(request.pin.parameters),
            request.budget.max_tokens,
            request.budget.reasoning_effort,
            request.seed,
        ]
        long = request.seed % 3 == 0
        return ChatReply(
            json.dumps(asked),
            StopReason.LENGTH if long else StopReason.STOP,
            Usage(40 + request.seed, 20, request.seed % 20, 5),
            0.0,
            "echo-1",
            reasoning="because" if request.seed % 2 else "",
        )


def test_an_in_process_model_is_the_same_through_litellm():
    pin = ModelPin("sim/echo", 0.4, {}, 0.0, 0.0, 0.0)
    register_simulated({"sim/echo": Echo()}, {"sim/echo": pin})

    async def scene():
        door = LiteLLMModel()
        for seed in range(1, 41):
            effort = "low" if seed % 4 == 0 else None
            request = ChatRequest(pin, (Message("user", f"n{seed}"),), Budget(99, effort), seed)
            direct, through = await Echo().complete(request), await door.complete(request)
            assert (through.text, through.reasoning) == (direct.text, direct.reasoning)
            assert (through.finish, through.usage) == (direct.finish, direct.usage)
            assert (through.usd, through.model) == (direct.usd, direct.model)

    asyncio.run(scene())


def test_a_synchronous_program_may_ask_through_litellm_and_must_say_its_cap():
    pin = ModelPin("sim/echo", 0.4, {"effect": "half"}, 0.0, 0.0, 0.0)
    register_simulated({"sim/echo": Echo()}, {"sim/echo": pin})
    litellm = litellm_module()
    messages = [{"role": "user", "content": "x"}]
    asked = {"model": "sim/echo", "messages": messages, "temperature": 0.0, "num_retries": 0}
    response = litellm.completion(**asked, max_tokens=7)
    assert json.loads(response.choices[0].message.content)[1:4] == [0.0, {"effect": "half"}, 7]
    with pytest.raises(Exception, match="max_tokens is part of the experiment"):
        litellm.completion(**asked)
