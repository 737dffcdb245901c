"""Replies of odd shapes: bytes and headers that servers have sent, with what they must mean.

`SHAPES` are made by hand, each with its outcome; `answers()` generates others, which must have
some outcome.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from tests.benchmarks.loopback import Answer

from heldout.students.models.chat import StopReason

GOOD = '{"assessment": "fine", "score": 7}'
COUNTS = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
DEEP = b'{"choices":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@dataclass(frozen=True)
class OddReply:
    """An answer; `text` and `finish` of the reply, or the `kind` of the fault."""

    name: str
    answer: Answer
    text: str = ""
    finish: StopReason | None = None
    kind: str = ""
    transient: bool = True


def body(
    content: Any = GOOD, finish: Any = "stop", usage: Any = None, **message: Any
) -> dict[str, Any]:
    """A completion of one choice; `message` are further fields of its message."""
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": "served",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
            }
        ],
        "usage": COUNTS if usage is None else usage,
    }


def sent(value: Any, *headers: tuple[str, str], status: int = 200) -> Answer:
    """An answer whose body is `value` as JSON, or as it is where it is bytes."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Answer(raw, status, headers)


def replied(name: str, value: Any, text: str = GOOD, finish: str = "stop", *headers: Any) -> Any:
    """A shape that is a reply."""
    return OddReply(name, sent(value, *headers), text, StopReason(finish))


def faulty(name: str, value: Any, kind: str, *headers: Any, status: int = 200) -> OddReply:
    """A shape that is a fault; it passes where a status of this kind does."""
    lasting = {"auth", "bad_request", "not_found", "payment", "context_window", "redirect"}
    answer = sent(value, *headers, status=status)
    return OddReply(name, answer, kind=kind, transient=kind not in lasting)


def changed(**fields: Any) -> dict[str, Any]:
    """A good body with other top-level fields."""
    return {**body(), **fields}


def choice(**fields: Any) -> dict[str, Any]:
    """A good body with other fields in its choice."""
    whole = body()
    whole["choices"][0] |= fields
    return whole


def error(message: Any = "no", **fields: Any) -> dict[str, Any]:
    """An error as OpenAI words it."""
    return {"error": {"message": message, **fields}}


PACKED = json.dumps(body()).encode()
ZIP = ("Content-Encoding", "gzip")
SSE = b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'
PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "text", "text": '{"assessment": "fine", '},
    {"type": "text", "text": '"score": 7}'},
]

SHAPES: tuple[OddReply, ...] = (
    replied("whole", body()),
    replied("packed with gzip", gzip.compress(PACKED), GOOD, "stop", ZIP),
    replied(
        "packed with deflate", zlib.compress(PACKED), GOOD, "stop", ("Content-Encoding", "deflate")
    ),
    replied(
        "bare deflate",
        zlib.compress(PACKED, wbits=-15),
        GOOD,
        "stop",
        ("Content-Encoding", "deflate"),
    ),
    replied("identity", body(), GOOD, "stop", ("Content-Encoding", "identity")),
    replied("a byte order mark", b"\xef\xbb\xbf" + PACKED),
    replied("UTF-16", PACKED.decode().encode("utf-16")),
    replied(
        "an odd charset",
        body(),
        GOOD,
        "stop",
        ("Content-Type", "application/json; charset=klingon"),
    ),
    replied("marked as text", body(), GOOD, "stop", ("Content-Type", "text/html")),
    replied("a cookie", body(), GOOD, "stop", ("Set-Cookie", "a=b; expires=never; domain=\x01")),
    OddReply("status 201", sent(body(), status=201), GOOD, StopReason.STOP),
    replied("content in parts", body(PARTS)),
    replied("parts that are texts", body(["7", "!"]), "7!"),
    replied("the text field of the protocol before chat", choice(message=None, text=GOOD)),
    replied("an empty answer of a few tokens", body(""), ""),
    replied("thoughts and no answer", body(None, reasoning_content="hm"), ""),
    replied("the cap", body("{", "length"), "{", "length"),
    replied(
        "a lone surrogate", PACKED.replace(b"fine", b"\\ud800"), GOOD.replace("fine", "\ufffd")
    ),
    replied("a NUL", body("7\x00"), "7\x00"),
    replied("finish eos_token", body(finish="eos_token")),
    replied("finish end_turn", body(finish="end_turn")),
    replied("finish eos", body(finish="eos")),
    replied("finish <|im_end|>", body(finish="<|im_end|>")),
    replied("finish FINISH_REASON_STOP", body(finish="FINISH_REASON_STOP")),
    replied("finish MAX_TOKENS", body("{", "MAX_TOKENS"), "{", "length"),
    replied("finish null, a whole answer", body(finish=None)),
    replied(
        "finish null at the cap",
        body("{", None, {**COUNTS, "completion_tokens": 50}),
        "{",
        "length",
    ),
    replied("finish missing", {**body(), "choices": [{"message": {"content": GOOD}}]}),
    replied("a refusal", body(None, refusal="No."), "No.", "content_filter"),
    replied("a filter", body("", "content_filter", {}), "", "content_filter"),
    replied("two choices", {**body(), "choices": body()["choices"] + body("x")["choices"]}),
    replied("a model that is a number", changed(model=7)),
    replied("a name of a thousand letters", changed(model="m" * 1000)),
    replied(
        "counts beyond 64 bits beside good ones", body(usage={**COUNTS, "total_tokens": 2**70})
    ),
    replied("an infinity beside", changed(timings={"ms": float("inf")})),
    replied("a system fingerprint that is a list", changed(system_fingerprint=[1])),
    replied("tool calls of null", body(tool_calls=None, function_call=None)),
    faulty("empty", b"", "not_json"),
    faulty("marked gzip that is none", PACKED, "not_json", ZIP),
    faulty("gzip cut off", gzip.compress(PACKED)[:40], "not_json", ZIP),
    faulty("an encoding nobody asked for", PACKED, "not_json", ("Content-Encoding", "br")),
    faulty("packed twice", PACKED, "not_json", ("Content-Encoding", "gzip, gzip")),
    faulty("a page", b"<html>gateway</html>", "not_json", ("Content-Type", "text/html")),
    faulty("a stream of events", SSE, "not_json", ("Content-Type", "text/event-stream")),
    faulty("no UTF-8", b'{"choices": "\xff\xfe\xfa"}', "not_json"),
    faulty("cut off", PACKED[:60], "not_json"),
    faulty("nested deeply", DEEP, "not_json"),
    faulty("a number of 5,000 digits", b'{"choices": [' + b"1" * 5000 + b"]}", "not_json"),
    faulty("a list", [], "no_choices"),
    faulty("a number", 1, "no_choices"),
    faulty("a text", "fine", "no_choices"),
    faulty("null", None, "no_choices"),
    faulty("an empty object", {}, "no_choices"),
    faulty("choices null", changed(choices=None), "no_choices"),
    faulty("choices a text", changed(choices="x"), "no_choices"),
    faulty("choices an object", changed(choices={"0": {}}), "no_choices"),
    faulty("choices of null", changed(choices=[None]), "no_choices"),
    faulty("message null", choice(message=None), "no_content"),
    faulty("message a list", choice(message=[{"content": "x"}]), "no_content"),
    faulty("message a text", choice(message="x"), "no_content"),
    faulty("content an object", body({"score": 9}), "no_content"),
    faulty("content a number", body(9), "no_content"),
    faulty("content true", body(True), "no_content"),
    faulty("content null", body(None), "no_content"),
    faulty("parts of other kinds", body([{"type": "image_url"}, None, 3]), "no_content"),
    faulty("usage a text", body(usage="12 tokens"), "no_usage"),
    faulty("usage a list", body(usage=[1, 2]), "no_usage"),
    faulty(
        "usage of 1e400", PACKED.replace(b"10, ", b"1e400, ").replace(b"5, ", b"-1, "), "no_usage"
    ),
    faulty("usage of texts", body(usage={"prompt_tokens": "many"}), "no_usage"),
    faulty("usage beyond 64 bits", body(usage={"prompt_tokens": 2**70}), "no_usage"),
    faulty("usage missing", {"choices": body()["choices"]}, "no_usage"),
    faulty("empty, of no tokens", body("", usage={"prompt_tokens": 9}), "empty"),
    faulty("white space, of no tokens", body(" \n", usage={"prompt_tokens": 9}), "empty"),
    faulty("finish error", body(finish="error"), "broken_off"),
    faulty("finish tool_calls", body(finish="tool_calls"), "broken_off"),
    faulty("finish a number", body(finish=3), "broken_off"),
    faulty("finish a list", body(finish=["stop"]), "broken_off"),
    faulty("finish null, no answer", body("", None), "broken_off"),
    faulty("an error with status 200", error("upstream broke"), "no_choices"),
    faulty("a typed error with status 200", error(code=429), "rate_limit"),
    faulty("a rejected key with status 200", error(code="401"), "auth"),
    faulty("400", error(), "bad_request", status=400),
    faulty(
        "400 with the word content_filter", error("content_filter: off"), "bad_request", status=400
    ),
    faulty(
        "400 over the window", error(code="context_length_exceeded"), "context_window", status=400
    ),
    faulty("401", error(), "auth", status=401),
    faulty("403", b"", "auth", status=403),
    faulty("404, a page", b"<html>", "not_found", status=404),
    faulty("413", b"\xff\xff", "context_window", status=413),
    faulty("422, a list of details", {"detail": [{"loc": ["seed"]}]}, "bad_request", status=422),
    faulty("422, an error that is a text", {"error": "no seed"}, "bad_request", status=422),
    faulty("429", error(), "rate_limit", ("Retry-After", "soon"), status=429),
    faulty(
        "429 until a date of no zone",
        error(),
        "rate_limit",
        ("Retry-After", "Wed, 21 Oct 2015 07:28:10 -0000"),
        ("Date", "Wed, 21 Oct 2015 07:28:00 GMT"),
        status=429,
    ),
    faulty(
        "429 until a date that is none",
        error(),
        "rate_limit",
        ("Retry-After", "Wed, 99 Oct 99999999999 07:28:10 GMT"),
        ("Date", "\x7f"),
        status=429,
    ),
    faulty("429 without quota", error(code="insufficient_quota"), "payment", status=429),
    faulty("429 with the word billing", error("see billing"), "rate_limit", status=429),
    faulty("500, marked gzip that is none", b"oops", "server", ZIP, status=500),
    faulty("401, marked gzip that is none", b"oops", "auth", ZIP, status=401),
    faulty("503", [], "server", status=503),
    faulty("599", 3, "server", status=599),
    faulty("a status nobody knows", b"", "server", status=999),
    faulty("204", b"", "not_json", status=204),
    faulty("304", b"", "redirect", status=304),
    OddReply(
        "a typed refusal",
        sent(error(code="content_policy_violation"), status=400),
        finish=StopReason.FILTER,
    ),
    OddReply(
        "a typed refusal of another status",
        sent(error(type="content_filter"), status=403),
        finish=StopReason.FILTER,
    ),
    OddReply("a connection cut", Answer(PACKED, cut=True), kind="reset"),
    OddReply(
        "a flood of headers",
        sent(body(), *[(f"X-{n}", "x" * 1000) for n in range(300)]),
        kind="reset",
    ),
)


# -- generated -------------------------------------------------------------------------------------

_WORDS = """<think> </think> <|channel|>final<|message|> stop length content_filter eos_token text
    thinking { analysisX 1e400"""
_FIELDS = """Retry-After retry-after-ms Date Content-Type Set-Cookie X-Request-Id Location Warning
    Content-Language x-ratelimit-reset"""
_ODD_SAID = """Wed, 21 Oct 2015 07:28:10 -0000
Wed, 21 Oct 2015 07:28:10
Thu, 01 Jan 0001 00:00:00 +9999
1e400
-1
nan

application/json; charset=utf-7
text/html; charset=
0; url=http://127.0.0.1:9
http://[
a=b; path=\x01"""
_TEXTS = st.one_of(st.text(max_size=30), st.sampled_from([*_WORDS.split(), GOOD, "\ud800", "\x00"]))
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    _TEXTS,
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(_TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)
_NAMES = st.sampled_from(_FIELDS.split())
_SAID = st.one_of(
    st.sampled_from([*_ODD_SAID.split("\n"), "9" * 400]),
    st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=20),
)
_STATUS = st.one_of(
    st.just(200),
    st.just(200),
    st.sampled_from([201, 204, 206, 299, 300, 302, 304, 307, 400, 401, 403, 404, 408, 409, 413])
    | st.sampled_from([418, 422, 424, 425, 429, 451, 500, 501, 502, 503, 504, 520, 529, 599, 999]),
)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """A body: a good completion or an error with something else at one or two places, or bytes."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=60))
    value: Any = draw(st.sampled_from([body(), body(PARTS), error(code="x"), body(finish=None)]))
    for _ in range(draw(st.integers(0, 2))):
        value = _with(draw, json.loads(json.dumps(value)))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    raw = text.encode(
        draw(st.sampled_from(["utf-8", "utf-8", "utf-16", "utf-32"])), "surrogatepass"
    )
    return raw[: draw(st.integers(0, len(raw)))] if draw(st.integers(0, 9)) == 0 else raw


def _with(draw: st.DrawFn, value: Any) -> Any:
    """`value` with something else at a place that is drawn."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 4)) == 0:
        return draw(_VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw(st.sampled_from(keys))
    value[key] = _with(draw, value[key])
    return value


@st.composite
def _answers(draw: st.DrawFn) -> Answer:
    raw, headers = draw(bodies()), draw(st.lists(st.tuples(_NAMES, _SAID), max_size=4))
    packing = draw(st.sampled_from(["", "", "", "gzip", "deflate", "br", "gzip, deflate", "none"]))
    if packing:
        headers.append(("Content-Encoding", packing))
    if packing == "gzip" and draw(st.booleans()):
        raw = gzip.compress(raw)
    cut = draw(st.integers(0, 29)) == 0
    return Answer(raw, draw(_STATUS), tuple(headers), cut=cut)


def answers() -> SearchStrategy[Answer]:
    """Answers of any status, headers, packing and body."""
    return _answers()
