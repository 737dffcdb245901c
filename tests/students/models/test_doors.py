"""Whatever comes back, both doors make the same of it: a reply, or one counted kind of fault."""

import gzip
import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from tests.benchmarks.loopback import Answer, serving
from tests.support.doors import DIRECT, LITELLM, PIN, both_doors, outcome
from tests.support.odd_replies import SHAPES, answers, body, sent

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.chat import Budget, ChatReply, ChatRequest, Message, ModelPin
from heldout.students.models.http_status import PASSING
from heldout.students.models.litellm_client import LiteLLMModel

KEY = "orchid-8842-canary"
BOTH = pytest.mark.parametrize("door", [DIRECT, LITELLM])


@pytest.fixture(scope="module")
def doors():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_API_KEY", KEY)
        with both_doors(key_env="TEST_API_KEY", body_bytes=1_000_000) as opened:
            yield opened


def test_there_are_enough_shapes():
    assert len(SHAPES) >= 60
    assert len({shape.name for shape in SHAPES}) == len(SHAPES)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_an_odd_reply_means_the_same_on_both_doors(doors, shape):
    direct = doors.ask(DIRECT, shape.answer)
    assert len(doors.seen) == 1
    through = doors.ask(LITELLM, shape.answer)
    assert len(doors.seen) == 1
    if shape.kind:
        assert isinstance(direct, InfrastructureFailure), direct
        assert (direct.kind, direct.transient) == (shape.kind, shape.transient)
        assert len(str(direct).splitlines()) == 1
    else:
        assert isinstance(direct, ChatReply), direct
        assert (direct.text, direct.finish) == (shape.text, shape.finish)
    assert outcome(through) == outcome(direct)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(answer=answers())
def test_no_other_exception_leaves_a_door_and_both_say_the_same(doors, answer):
    direct = doors.means(DIRECT, answer)
    assert direct == doors.means(LITELLM, answer)
    assert KEY not in repr(direct)


@BOTH
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_nothing_is_sent_to_the_second_host(doors, door, status):
    with serving(lambda _: sent(body())) as second:
        place = ("Location", f"{second.api_base}/chat/completions")
        fault = doors.ask(door, Answer(b"{}", status, (place,)))
        assert (second.requests, second.connections) == (0, 0)
    assert isinstance(fault, InfrastructureFailure)
    assert (fault.kind, fault.transient) == ("redirect", False)
    assert second.api_base in str(fault)
    assert len(doors.seen) == 1


@BOTH
@pytest.mark.parametrize("place", ["http://[", "", "//x\x01", "/v1/other", "ftp://h/x", "a" * 5000])
def test_a_redirect_to_nowhere_is_the_same_fault(doors, door, place):
    fault = doors.ask(door, Answer(b"{}", 307, (("Location", place),)))
    assert (fault.kind, fault.transient) == ("redirect", False)
    assert len(str(fault)) < 500


BOMB = Answer(gzip.compress(b" " * 30_000_000, 1), headers=(("Content-Encoding", "gzip"),))


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        BOMB,
        Answer(b"[" + b" " * 5_000_000),
        sent(body("x" * 1_000_001)),
    ],
    ids=["bomb", "large", "just above"],
)
def test_a_body_is_bounded_while_it_is_read(doors, door, answer):
    fault = doors.ask(door, answer)
    assert isinstance(fault, InfrastructureFailure)
    assert (fault.kind, fault.transient) == ("too_large", True)
    assert "1,000,000 bytes" in str(fault)


@BOTH
def test_a_bomb_is_never_unpacked_whole(doors, door):
    doors.ask(door, sent(body()))
    tracemalloc.start()
    doors.ask(door, BOMB)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def escaped(key):
    return "".join(f"\\u{ord(c):04X}" for c in key)


def planted(value, key):
    """`value` with `key` in every text of it, and as a name."""
    if isinstance(value, dict):
        return {name: planted(item, key) for name, item in value.items()} | {f"x-{key}": key}
    if isinstance(value, list):
        return [planted(item, key) for item in value]
    return f"{value} {key}" if isinstance(value, str) else value


ECHOES = {
    "plain": KEY,
    "in escapes of JSON": escaped(KEY),
    "in half of them": KEY[:6] + escaped(KEY[6:]),
    "in a URL": KEY.replace("-", "%2D"),
    "in HTML": KEY.replace("-", "&#45;"),
    "as a header": f"Bearer {KEY}",
}


@BOTH
@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_a_key_in_every_field_of_a_reply_is_found_nowhere(doors, door, echo):
    whole = body('{"assessment": "fine", "score": 7}', reasoning_content="hm")
    whole["choices"][0]["message"]["tool_calls"] = [{"id": "c", "function": {"name": "f"}}]
    whole = planted(whole, echo)
    whole["choices"][0]["finish_reason"] = "stop"
    for answer in (whole, whole | {"error": echo}):
        raw = json.dumps(answer).replace("\\\\u", "\\u").encode()
        reply = doors.ask(door, sent(raw, ("X-Echo", KEY)))
        assert isinstance(reply, ChatReply), reply
        for text in (reply.text, reply.reasoning, reply.model, reply.raw):
            assert "[redacted]" in text
            assert KEY not in text.encode().decode("unicode_escape", "replace")


@BOTH
@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_a_key_in_an_error_is_found_nowhere(doors, door, status):
    said = planted({"error": {"message": "no", "code": "x", "type": "y"}}, KEY)
    fault = doors.ask(door, sent(said, ("Retry-After", KEY), status=status))
    assert isinstance(fault, InfrastructureFailure)
    assert KEY not in repr(outcome(fault))
    split = body([{"type": "text", "text": KEY[:5]}, {"type": "text", "text": KEY[5:]}])
    assert KEY not in repr(doors.means(door, sent(split)))
    assert KEY not in repr(doors.means(door, sent(body(finish=f"x {KEY}"))))
    assert KEY not in repr(doors.means(door, Answer(b"", 302, (("Location", f"/{KEY}"),))))


@BOTH
def test_a_key_that_is_not_set_is_a_lasting_fault_and_nothing_is_sent(monkeypatch, door):
    monkeypatch.setenv("OPENAI_API_KEY", "another-key-of-mine")
    for value in (None, "", "  ", "schlüssel-mit-umlaut"):
        monkeypatch.delenv("TEST_API_KEY", raising=False)
        if value is not None:
            monkeypatch.setenv("TEST_API_KEY", value)
        with both_doors(key_env="TEST_API_KEY") as opened:
            fault = opened.ask(door, sent(body()))
            assert opened.seen == []
        assert (fault.kind, fault.transient) == ("auth", False)
        assert "TEST_API_KEY" in str(fault)


def test_kinds_that_pass_are_those_that_asking_again_may_mend():
    kinds = {shape.kind for shape in SHAPES if shape.kind and not shape.transient}
    assert not kinds & PASSING


def test_a_key_that_litellm_misses_is_a_lasting_fault(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with both_doors() as opened:
        fault = opened.ask(LITELLM, sent(body()))
        assert opened.seen == []
    assert (fault.kind, fault.transient) == ("auth", False)
    assert str(fault).startswith("nothing was sent")


NATIVE = ModelPin("anthropic/claude-sonnet-4-5")
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "<think>a draft</think>Score: 8"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 50, "output_tokens": 20},
}


@pytest.fixture(scope="module")
def native(doors):
    doors.models["native"] = LiteLLMModel(f"http://127.0.0.1:{doors.server.port}", "TEST_API_KEY")
    return lambda answer: doors.ask("native", answer, NATIVE)


def test_a_protocol_that_litellm_translates_has_its_thoughts_taken_off_too(native):
    reply = native(sent(MESSAGE | {"model": KEY}))
    assert (reply.text, reply.reasoning) == ("Score: 8", "a draft")
    assert KEY not in repr(reply)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (sent({"type": "error", "error": {"type": "authentication_error"}}, status=401), "auth"),
        (sent({"type": "error", "error": {"type": "overloaded_error"}}, status=529), "server"),
        (sent({"error": {"message": "slow"}}, ("Retry-After", "7"), status=429), "rate_limit"),
        (sent({}, ("Location", "http://127.0.0.1:9/"), status=307), "redirect"),
        (sent(b"<html>"), "not_json"),
        (sent(b"x" * 9_000_000), "too_large"),
        (sent([]), "unreadable"),
        (sent({"content": 3}), "unreadable"),
        (Answer(b"x" * 50, cut=True), "reset"),
    ],
)
def test_its_faults_are_named_as_they_are_anywhere(doors, native, answer, kind):
    fault = native(answer)
    assert isinstance(fault, InfrastructureFailure), fault
    assert fault.kind == kind
    assert len(doors.seen) == 1


def test_a_model_that_is_closed_takes_nothing_from_one_beside_it(doors):
    """LiteLLM's clients belong to the process; a run that ends must not end the run beside it."""
    answer = sent(body())
    assert isinstance(doors.ask(LITELLM, answer), ChatReply)
    beside = LiteLLMModel(doors.server.api_base, "TEST_API_KEY")
    request = ChatRequest(PIN, (Message("user", "judge"),), Budget(50), 77)
    assert isinstance(doors.runner.run(beside.complete(request)), ChatReply)
    doors.runner.run(beside.aclose())
    assert isinstance(doors.ask(LITELLM, answer), ChatReply)
