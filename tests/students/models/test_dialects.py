"""What endpoints do otherwise: said in the pin or known, and the same through both doors."""

import asyncio

import pytest
from tests.reflectors.judged import BUDGET, TERMS, enclosed, pairs
from tests.reflectors.judged import SEED as BLOCK
from tests.students.conformance import BUDGET as CAP
from tests.students.conformance import judge
from tests.support.calls import spec
from tests.support.doors import DIRECT, LITELLM, PIN, both_doors
from tests.support.notes import benchmark
from tests.support.odd_replies import GOOD, body, error, sent
from tests.support.scripted import ScriptedCaller

from heldout.reflectors.model import ModelReflector
from heldout.reflectors.reflector import RewriteContext
from heldout.splits.errors import BadInput
from heldout.students.calls.ledger import Totals
from heldout.students.calls.store_rows import stored_call
from heldout.students.calls.transfer import row_fault
from heldout.students.designs.checker import PerFactChecker
from heldout.students.designs.facts import Extraction
from heldout.students.designs.whole_note import WholeNoteJudge
from heldout.students.frames import load_frame
from heldout.students.models.chat import ChatReply, Dialect, ModelPin, StopReason, Usage
from heldout.students.models.pins import load_pins
from heldout.students.models.tokens import count_tokens
from heldout.students.student import Outcome

BOTH = pytest.mark.parametrize("door", [DIRECT, LITELLM])
NOTE = benchmark(1).consultations[0].clean[0]
DRAFT = '{"assessment": "a draft", "score": 9}'


@pytest.fixture(scope="module")
def doors():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "none-needed")
        with both_doors() as opened:
            yield opened


def pin(**dialect):
    return ModelPin("openai/m", 0.7, {}, 1.0, 10.0, dialect=Dialect(**dialect))


def judged(found):
    """What a whole-note judge, and a checker by its extractor, make of the reply `found`."""
    caller = ScriptedCaller(lambda _: found)
    extraction = Extraction(load_frame("extract"), PIN, caller, CAP)
    yield judge(WholeNoteJudge(load_frame("whole_note"), PIN, caller, 11), NOTE)
    yield judge(PerFactChecker(load_frame("check"), PIN, caller, 11, extraction), NOTE)


# -- thinking, for every role ----------------------------------------------------------------------

UNFINISHED = {
    "think": body(f"<think>{DRAFT}", "length"),
    "think, though the server says stop": body(f"<think>{DRAFT}", "stop"),
    "think, finish null": body(f"<think>{DRAFT}", None),
    "think, finish of its own": body(f"<think>{DRAFT}", "no-such-word"),
    "in a part": body([{"type": "text", "text": f"[THINK] {DRAFT}"}], "length"),
    "after a sentence": body(f"Let me see. <thinking>{DRAFT}", "length"),
    "harmony": body(f"<|channel|>analysis<|message|>{DRAFT}", "length"),
    "harmony, names alone": body(f"analysisWe score {DRAFT}", "length"),
    "a field": body(None, "length", reasoning_content=DRAFT),
}


@BOTH
@pytest.mark.parametrize("reply", UNFINISHED.values(), ids=UNFINISHED)
def test_what_a_model_thinks_is_not_its_answer(doors, door, reply):
    found = doors.ask(door, sent(reply))
    assert (found.text, found.finish) == ("", StopReason.LENGTH)
    assert DRAFT in found.reasoning
    for answer in judged(found):
        assert (answer.score, answer.outcome) == (None, Outcome.TRUNCATED)


@BOTH
def test_a_draft_in_unfinished_thinking_is_no_block(doors, door):
    draft = enclosed("A draft of the block.")
    for text in (f"<think>\n{draft}", f"analysis\n{draft}\nhm", f"Well. [THINK]\n{draft}"):
        found = doors.ask(door, sent(body(text, "length")))
        caller = ScriptedCaller(lambda _, found=found: found)
        model = ModelReflector(caller, TERMS, PIN, BUDGET, run_seed=11)
        proposal = asyncio.run(model.rewrite(RewriteContext("i01", BLOCK, pairs())))
        assert proposal.block is None
        assert "A draft" in found.reasoning


@BOTH
@pytest.mark.parametrize(
    "reply",
    [
        body(f"<think>{DRAFT}</think>{GOOD}"),
        body(f"{DRAFT}</think>{GOOD}"),
        body(GOOD, reasoning=DRAFT),
        body(GOOD, reasoning_details=[{"type": "reasoning.text", "text": DRAFT}]),
        body([{"type": "thinking", "thinking": DRAFT}, {"type": "text", "text": GOOD}]),
        body([{"thought": True, "text": DRAFT}, {"text": GOOD}]),
        body(f"<|channel|>analysis<|message|>{DRAFT}<|end|><|channel|>final<|message|>{GOOD}"),
    ],
)
def test_finished_thoughts_are_kept_beside_the_answer(doors, door, reply):
    found = doors.ask(door, sent(reply))
    assert (found.text, found.reasoning, found.finish) == (GOOD, DRAFT, StopReason.STOP)


# -- finish reasons --------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("eos_token", StopReason.STOP),
        ("EOS", StopReason.STOP),
        ("stop_sequence", StopReason.STOP),
        ("end_turn", StopReason.STOP),
        ("</s>", StopReason.STOP),
        (None, StopReason.STOP),
        ("", StopReason.STOP),
        ("model_length", StopReason.LENGTH),
        ("max_new_tokens", StopReason.LENGTH),
        ("SAFETY", StopReason.FILTER),
        ("content-filter", StopReason.FILTER),
    ],
)
def test_finish_reasons_of_other_servers(doors, door, word, finish):
    found = doors.ask(door, sent(body(GOOD, word)))
    assert (found.text, found.finish) == (GOOD, finish)


@BOTH
def test_a_finish_reason_of_ones_own_is_said_in_the_pin(doors, door):
    assert doors.ask(door, sent(body(GOOD, "basta!"))).kind == "broken_off"
    own = pin(endings={"basta": StopReason.STOP})
    assert doors.ask(door, sent(body(GOOD, "basta!")), own).finish is StopReason.STOP


# -- what an endpoint refuses ----------------------------------------------------------------------


def refusing(*fields):
    """A server that takes none of `fields`."""

    def respond(request):
        found = [name for name in fields if name in request.body]
        if found:
            return sent({"detail": [{"loc": ["body", name]} for name in found]}, status=422)
        return sent(body())

    return respond


@BOTH
@pytest.mark.parametrize("fields", [("seed",), ("temperature",), ("seed", "temperature")])
def test_what_an_endpoint_refuses_is_left_out(doors, door, fields):
    fault = doors.ask(door, refusing(*fields))
    assert (fault.kind, fault.transient) == ("bad_request", False)
    reply = doors.ask(door, refusing(*fields), pin(omit=fields))
    assert isinstance(reply, ChatReply), reply
    kept = {"seed", "temperature"} - set(fields)
    assert {"seed", "temperature"} & set(doors.seen[0].body) == kept


@BOTH
def test_tokens_are_estimated_where_the_endpoint_counts_none(doors, door):
    uncounted = {k: v for k, v in body(GOOD, reasoning="hm hm hm").items() if k != "usage"}
    fault = doors.ask(door, sent(uncounted))
    assert fault.kind == "no_usage"
    assert "usage: estimated" in str(fault)
    found = doors.ask(door, sent(uncounted), pin(counts_tokens=False), "judge the note " * 100)
    assert found.usage.estimated
    assert 250 <= found.usage.prompt <= 350
    assert found.usage.completion == count_tokens(GOOD) + found.usage.reasoning
    assert found.usd == pytest.approx(
        (found.usage.prompt * 1.0 + found.usage.completion * 10.0) / 1e6
    )
    # An empty answer is the provider's fault there too.
    assert doors.ask(door, sent(body("")), pin(counts_tokens=False)).kind == "empty"


def test_tokens_are_counted_without_a_network_and_in_time():
    assert count_tokens("") == 0
    assert 5 <= count_tokens("The patient denies chest pain.") <= 8
    assert count_tokens("a" * 300_000) > 10_000
    assert count_tokens("\ud800 胸痛") > 0


def test_estimated_tokens_are_called_so_in_the_totals():
    asked = spec(pin=pin(counts_tokens=False, omit=("seed",)))
    reply = ChatReply("x", StopReason.STOP, Usage(5, 1, estimated=True), 0.0, "m")
    row = stored_call("r", asked, reply, latency_s=0.1, elapsed_s=0.1)
    assert row.reply.usage.estimated
    assert row_fault(row) is None
    totals = Totals()
    totals.add(row)
    totals.add(stored_call("r", spec(), reply, latency_s=0.1, elapsed_s=0.1))
    assert (totals.calls, totals.estimated) == (2, 1)


def test_the_key_of_a_call_changes_only_where_the_pin_says_something_new():
    same = [spec(pin=pin()), spec(pin=pin(endings={"basta": StopReason.STOP}))]
    plain = spec(pin=ModelPin("openai/m", 0.7, {}, 1.0, 10.0))
    assert {s.key for s in same} == {plain.key}
    others = [spec(pin=pin(omit=("seed",))), spec(pin=pin(counts_tokens=False))]
    assert len({plain.key, *(s.key for s in others)}) == 3
    assert others[0].pin.recorded == {"dialect": {"omit": ["seed"]}}


# -- a refusal -------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (error("content_filter must be off for this model"), 400),
        (error("the content_policy field is not known", code="unknown_field"), 422),
        ({"detail": "content management policy: no such option"}, 400),
        (error("content_policy_violation", type="invalid_request_error"), 403),
        (error("see our content policy", code=400), 200),
    ],
)
def test_a_word_in_an_error_is_no_refusal(doors, door, reply, status):
    fault = doors.ask(door, sent(reply, status=status))
    assert not isinstance(fault, ChatReply)
    assert not fault.transient


@BOTH
@pytest.mark.parametrize(
    "typed",
    [
        {"code": "content_filter"},
        {"type": "content_policy_violation"},
        {"code": "content-filter", "message": None},
        {"code": "400", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        {"code": "data_inspection_failed"},
    ],
)
def test_a_typed_code_is_one(doors, door, typed):
    reply = doors.ask(door, sent({"error": {"message": "no", **typed}}, status=400))
    assert (reply.text, reply.finish) == ("", StopReason.FILTER)


@BOTH
def test_an_empty_answer_of_no_tokens_is_asked_again_and_one_of_some_is_the_models(doors, door):
    fault = doors.ask(door, sent(body("", usage={"prompt_tokens": 9, "completion_tokens": 0})))
    assert (fault.kind, fault.transient) == ("empty", True)
    reply = doors.ask(door, sent(body("", usage={"prompt_tokens": 9, "completion_tokens": 1})))
    assert reply.text == ""
    assert {answer.score for answer in judged(reply)} == {None}


# -- the pins file ---------------------------------------------------------------------------------

PINS = """
models:
  openai/m:
    api_base: http://127.0.0.1:9/v1
    omit: [seed]
    usage: estimated
    endings: {"<END>": stop, Cut: length}
    body_mb: 0.5
"""


def test_a_pin_says_what_its_endpoint_does_otherwise(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text(PINS)
    model = load_pins(path).find("openai/m", "student.model")
    assert model.pin.dialect == Dialect(
        ("seed",), counts_tokens=False, endings={"end": StopReason.STOP, "cut": StopReason.LENGTH}
    )
    assert model.body_bytes == 500_000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("omit: [max_tokens]", "omit"),
        ("usage: guessed", "usage"),
        ("endings: {x: done}", "endings"),
        ("body_mb: 0", "body_mb"),
        ("parameters: {dialect: x}", "dialect"),
    ],
)
def test_what_a_pin_may_not_say(tmp_path, line, said):
    path = tmp_path / "models.yaml"
    path.write_text(f"models:\n  openai/m:\n    {line}\n")
    with pytest.raises(BadInput, match=said):
        load_pins(path)


def test_one_model_is_one_endpoint_in_this_too(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text(PINS + "  again:\n    model: openai/m\n    api_base: http://127.0.0.1:9/v1\n")
    with pytest.raises(BadInput, match="at another endpoint"):
        load_pins(path)


def test_a_note_with_a_lone_surrogate_can_be_sent(doors):
    for door in (DIRECT, LITELLM):
        assert doors.ask(door, sent(body()), prompt="pain \ud83d here").text == GOOD
        assert doors.seen[0].body["messages"][0]["content"] == "pain \ufffd here"
