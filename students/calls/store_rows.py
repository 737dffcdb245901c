"""What a stored call is, and its table.

Keys of providers, headers and endpoints are no part of a call, so no column could hold them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from heldout.splits.hashing import canonical_json
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.models.chat import Budget, ChatReply, Message, StopReason, Usage

METADATA = sa.MetaData()

CALLS = sa.Table(
    "calls",
    METADATA,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("origin", sa.Text, nullable=True),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("item", sa.Text, nullable=False),
    sa.Column("messages_sha256", sa.String(64), nullable=False),
    sa.Column("messages", sa.Text, nullable=True),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("temperature", sa.Double, nullable=False),
    sa.Column("parameters", sa.Text, nullable=False),
    sa.Column("max_tokens", sa.Integer, nullable=False),
    sa.Column("reasoning_effort", sa.Text, nullable=True),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("sample", sa.Integer, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("occasion", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("reasoning", sa.Text, nullable=False),
    sa.Column("finish", sa.Text, nullable=False),
    sa.Column("prompt_tokens", sa.Integer, nullable=False),
    sa.Column("completion_tokens", sa.Integer, nullable=False),
    sa.Column("reasoning_tokens", sa.Integer, nullable=False),
    sa.Column("cached_tokens", sa.Integer, nullable=False),
    sa.Column("usd", sa.Double, nullable=True),
    sa.Column("served_model", sa.Text, nullable=False),
    sa.Column("raw", sa.Text, nullable=False),
    sa.Column("latency_s", sa.Double, nullable=False),
    sa.Column("elapsed_s", sa.Double, nullable=False),
    sa.Index("calls_of_run", "run_id", "key", unique=True),
    sa.Index("calls_by_key", "key"),
    implicit_returning=False,
)

INSERT = sa.insert(CALLS)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class StoredCall:
    """One call with its reply.

    `reply.raw` is empty: what the provider sent word for word stays in the database and in
    exports. `origin` is the run that bought the call, None if this run did. `latency_s` is how
    long the answering request took, `elapsed_s` how long the run had been going when it was
    stored, over all its sessions.
    """

    run_id: str
    key: str
    stage: Stage
    item: str
    messages_sha256: str
    messages: tuple[Message, ...] | None
    model: str
    temperature: float
    parameters: Mapping[str, Any]
    budget: Budget
    seed: int
    sample: int
    attempt: int
    occasion: str
    reply: ChatReply
    origin: str | None = None
    latency_s: float = 0.0
    elapsed_s: float = 0.0


def storable(text: str) -> str:
    """`text` with NUL and lone surrogates, which no database takes, replaced by U+FFFD."""
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return clean.replace("\0", "\ufffd")


def row_of(run_id: str, spec: CallSpec, reply: ChatReply, times: tuple[float, float]) -> Row:
    """The row of a call that just came back; `times` are latency and elapsed, in seconds."""
    keeps = spec.stage.keeps_messages
    return {
        "run_id": run_id,
        "key": spec.key,
        "origin": None,
        "stage": spec.stage.value,
        "item": storable(spec.item),
        "messages_sha256": spec.messages_sha256,
        "messages": _messages_json(spec.messages) if keeps else None,
        "model": spec.pin.id,
        "temperature": spec.pin.temperature,
        "parameters": canonical_json(dict(spec.pin.parameters)) if spec.pin.parameters else "{}",
        "max_tokens": spec.budget.max_tokens,
        "reasoning_effort": spec.budget.reasoning_effort,
        "seed": spec.seed,
        "sample": spec.sample,
        "attempt": spec.attempt,
        "occasion": spec.occasion,
        "text": storable(reply.text),
        "reasoning": storable(reply.reasoning),
        "finish": reply.finish.value,
        "prompt_tokens": reply.usage.prompt,
        "completion_tokens": reply.usage.completion,
        "reasoning_tokens": reply.usage.reasoning,
        "cached_tokens": reply.usage.cached,
        "usd": reply.usd,
        "served_model": storable(reply.model),
        "raw": storable(reply.raw),
        "latency_s": times[0],
        "elapsed_s": times[1],
    }


def call_of(row: Row) -> StoredCall:
    """The stored call of a row."""
    parameters = row["parameters"]
    return StoredCall(
        run_id=row["run_id"],
        key=row["key"],
        stage=Stage(row["stage"]),
        item=row["item"],
        messages_sha256=row["messages_sha256"],
        messages=_messages(row["messages"]),
        model=row["model"],
        temperature=row["temperature"],
        parameters={} if parameters == "{}" else json.loads(parameters),
        budget=Budget(row["max_tokens"], row["reasoning_effort"]),
        seed=row["seed"],
        sample=row["sample"],
        attempt=row["attempt"],
        occasion=row["occasion"],
        reply=_reply(row),
        origin=row["origin"],
        latency_s=row["latency_s"],
        elapsed_s=row["elapsed_s"],
    )


def _reply(row: Row) -> ChatReply:
    usage = Usage(
        row["prompt_tokens"],
        row["completion_tokens"],
        row["reasoning_tokens"],
        row["cached_tokens"],
    )
    finish = StopReason(row["finish"])
    return ChatReply(
        row["text"], finish, usage, row["usd"], row["served_model"], reasoning=row["reasoning"]
    )


def _messages_json(messages: tuple[Message, ...]) -> str:
    return canonical_json([[m.role, storable(m.content)] for m in messages])


def _messages(text: str | None) -> tuple[Message, ...] | None:
    return None if text is None else tuple(Message(*pair) for pair in json.loads(text))
