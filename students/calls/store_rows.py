"""What a stored call is, and its table.

Keys of providers, headers and endpoints are no part of a call, so no column could hold them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, get_args, get_type_hints

import sqlalchemy as sa

from heldout.splits.hashing import canonical_json
from heldout.students.calls.call import CallSpec
from heldout.students.models.chat import ChatReply, Message, StopReason, Usage, says_estimated

Sha256 = Annotated[str, sa.String(64)]
Large = Annotated[int, sa.BigInteger()]
SQL_TYPES: dict[type, Any] = {str: sa.Text, int: sa.Integer, float: sa.Double}


@dataclass(frozen=True)
class StoredCall:
    """One call with its reply: a row of the table `calls`, a line of an export.

    `origin` is the run that bought the call, None if this run did. `messages` (JSON, pairs of role
    and content) are kept for reflect and merge only; `parameters` is JSON as well. `raw` is what
    the provider sent word for word; it stays in the database and in exports, and is empty in the
    calls that a `CallStore` holds. `latency_s` is how long the answering request took, `elapsed_s`
    how long the run had been going when it was stored, over all its sessions.
    """

    run_id: str
    key: Sha256
    origin: str | None
    stage: str
    item: str
    messages_sha256: Sha256
    messages: str | None
    model: str
    temperature: float
    parameters: str
    max_tokens: int
    reasoning_effort: str | None
    seed: Large
    sample: int
    attempt: int
    occasion: str
    text: str
    reasoning: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    cached_tokens: int
    usd: float | None
    served_model: str
    raw: str
    latency_s: float
    elapsed_s: float

    @property
    def values(self) -> dict[str, Any]:
        """The fields by name, as database and export take them."""
        return {name: getattr(self, name) for name in COLUMNS}

    @property
    def estimated(self) -> bool:
        """True if the endpoint counts no tokens, so that those of this call were counted here."""
        return '"usage"' in self.parameters and says_estimated(json.loads(self.parameters))

    @cached_property
    def reply(self) -> ChatReply:
        """What came back, without `raw`."""
        usage = Usage(
            self.prompt_tokens,
            self.completion_tokens,
            self.reasoning_tokens,
            self.cached_tokens,
            self.estimated,
        )
        finish, model = StopReason(self.finish), self.served_model
        return ChatReply(self.text, finish, usage, self.usd, model, reasoning=self.reasoning)

    @property
    def conversation(self) -> tuple[Message, ...]:
        """The messages; empty where they were not kept."""
        return tuple(Message(*pair) for pair in json.loads(self.messages or "[]"))


def _columns() -> Iterator[sa.Column[Any]]:
    """The columns of the fields of `StoredCall`."""
    for name, hint in get_type_hints(StoredCall, include_extras=True).items():
        parts = get_args(hint) or (hint,)
        (sql,) = getattr(hint, "__metadata__", (SQL_TYPES[parts[0]],))
        yield sa.Column(name, sql, nullable=type(None) in parts)


METADATA = sa.MetaData()
COLUMNS = {column.name: column for column in _columns()}
CALLS = sa.Table(
    "calls",
    METADATA,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    *COLUMNS.values(),
    sa.Index("calls_of_run", "run_id", "key", unique=True),
    sa.Index("calls_by_key", "key"),
    implicit_returning=False,
)
SELECT = sa.select(*COLUMNS.values()).order_by(CALLS.c.id)
"""All calls in the order in which they were stored; `StoredCall(*row)` reads a row."""


def storable(text: str) -> str:
    """`text` with NUL and lone surrogates, which no database takes, replaced by U+FFFD."""
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return clean.replace("\0", "\ufffd")


REPLY: tuple[str, ...] = (
    "key",
    "item",
    "text",
    "reasoning",
    "finish",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "usd",
    "served_model",
    "elapsed_s",
)
"""What a digest covers: the key stands for what was asked, the rest is what a run makes use of."""


def replies_sha256(calls: Iterable[StoredCall]) -> str:
    """Digest of calls with their replies, in their order; the same read back from any database."""
    hasher = hashlib.sha256()
    for call in calls:
        plain = [_as_stored(name, getattr(call, name)) for name in REPLY]
        hasher.update(f"{canonical_json(plain)}\n".encode("utf-8", "surrogatepass"))
    return hasher.hexdigest()


def _as_stored(name: str, value: Any) -> Any:
    """A whole number of a float's column is a float once it is read back."""
    as_float = value is not None and COLUMNS[name].type.python_type is float
    return float(value) if as_float else value


def stored_call(
    run_id: str, spec: CallSpec, reply: ChatReply, *, latency_s: float, elapsed_s: float
) -> StoredCall:
    """The row of a call that just came back to the run `run_id`."""
    kept = None
    if spec.stage.keeps_messages:
        kept = canonical_json([[m.role, storable(m.content)] for m in spec.messages])
    return StoredCall(
        run_id=run_id,
        key=spec.key,
        origin=None,
        stage=spec.stage.value,
        item=storable(spec.item),
        messages_sha256=spec.messages_sha256,
        messages=kept,
        model=spec.pin.id,
        temperature=spec.pin.temperature,
        parameters=canonical_json(spec.pin.recorded),
        max_tokens=spec.budget.max_tokens,
        reasoning_effort=spec.budget.reasoning_effort,
        seed=spec.seed,
        sample=spec.sample,
        attempt=spec.attempt,
        occasion=spec.occasion,
        text=storable(reply.text),
        reasoning=storable(reply.reasoning),
        finish=reply.finish.value,
        prompt_tokens=reply.usage.prompt,
        completion_tokens=reply.usage.completion,
        reasoning_tokens=reply.usage.reasoning,
        cached_tokens=reply.usage.cached,
        usd=reply.usd,
        served_model=storable(reply.model),
        raw=storable(reply.raw),
        latency_s=latency_s,
        elapsed_s=elapsed_s,
    )
