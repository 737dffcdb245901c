import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.provider_replies import OPENAI_LIKE, chat

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.chat import Budget, ChatRequest, Message, ModelPin, StopReason, Usage
from heldout.students.models.normalise import normalised

PIN = ModelPin("p/m", usd_per_million_prompt=1.0, usd_per_million_completion=10.0)
COUNTS = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def read(body, pin=PIN):
    return normalised(body, ChatRequest(pin, (Message("user", "judge"),), Budget(50), 1), str)


@pytest.mark.parametrize("shape", OPENAI_LIKE, ids=lambda shape: shape.name)
def test_documented_shapes(shape):
    reply = read(shape.body)
    assert (reply.text, reply.reasoning, reply.finish) == (
        shape.text,
        shape.reasoning,
        shape.finish,
    )
    assert reply.usage == shape.usage
    assert reply.model == "served-model-2025"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({**chat({"content": "x"}, COUNTS), "choices": []}, "no_choices"),
        ({**chat({"content": "x"}, COUNTS), "choices": None}, "no_choices"),
        ({"error": {"message": "upstream broke"}}, "no_choices"),
        ([], "no_choices"),
        (chat({"content": None}, COUNTS), "no_content"),
        (chat({}, COUNTS), "no_content"),
        (chat({"content": "x"}, {}), "no_usage"),
        (chat({"content": "x"}, {"prompt_tokens": 0, "completion_tokens": 0}), "no_usage"),
        ({**chat({"content": "x"}, {}), "usage": None}, "no_usage"),
        (chat({"content": "x"}, COUNTS, "error", error={"code": 502}), "broken_off"),
        (chat({"content": "x"}, COUNTS, "insufficient_system_resource"), "broken_off"),
        (chat({"content": "x"}, COUNTS, "tool_calls"), "broken_off"),
    ],
)
def test_what_is_no_reply_is_an_infrastructure_failure_and_never_a_score(body, kind):
    with pytest.raises(InfrastructureFailure) as caught:
        read(body)
    assert caught.value.kind == kind
    assert caught.value.transient


def test_reasoning_without_an_answer_is_a_reply_without_text():
    reply = read(chat({"content": None, "reasoning_content": "all of it"}, COUNTS))
    assert (reply.text, reply.finish) == ("", StopReason.STOP)


def test_a_filtered_prompt_may_have_no_usage():
    reply = read(chat({"content": None}, {}, "content_filter"))
    assert (reply.finish, reply.usage) == (StopReason.FILTER, Usage())


def test_cost_is_from_the_pin_and_unknown_where_it_has_no_price():
    usage = {**COUNTS, "prompt_tokens_details": {"cached_tokens": 8}}
    body = chat({"content": "x"}, usage)
    assert read(body).usd == pytest.approx((10 * 1.0 + 5 * 10.0) / 1e6)
    cheap = ModelPin("p/m", 1.0, {}, 1.0, 10.0, 0.1)
    assert read(body, cheap).usd == pytest.approx((2 * 1.0 + 8 * 0.1 + 5 * 10.0) / 1e6)
    assert read(body, ModelPin("p/m")).usd is None
    free = ModelPin("p/m", 1.0, {}, 0.0, 0.0)
    assert read(body, free).usd == 0.0


counts = st.integers(0, 10**6)


@given(prompt=counts, completion=counts, reasoning=counts, cached=counts, beside=st.booleans())
def test_reasoning_is_part_of_completion_and_cached_of_prompt(
    prompt, completion, reasoning, cached, beside
):
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion + (reasoning if beside else 0),
        "completion_tokens_details": {"reasoning_tokens": reasoning},
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    if prompt + completion + reasoning == 0:
        return
    read_usage = read(chat({"content": "x"}, usage)).usage
    assert read_usage.reasoning == reasoning <= read_usage.completion
    assert read_usage.cached <= read_usage.prompt == prompt
    inside = completion if reasoning <= completion and not (beside and reasoning) else None
    assert read_usage.completion == (completion + reasoning if inside is None else inside)
