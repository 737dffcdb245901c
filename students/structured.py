"""Structured answers: the JSON schema of a contract, as an endpoint is asked to enforce it.

Every contract gives its own schema (`schema`), in the order in which its answer is written. A pin
says in which form the endpoint takes it. The fields stand among the parameters of the call, so
both doors send them, the key of the call covers them and the store keeps them; what a person wrote
under `parameters` stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from heldout.students.models.chat import Message, ModelPin, Structured

Schema = Mapping[str, Any]

CHARACTERS_A_TOKEN = 1
"""A bound from below: what a weak model runs into, digits and single letters, is no longer."""
SHORTEST_TEXT = 20
LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
"""Words of a schema that bound lengths; hosted endpoints refuse some of them."""
FIELDS = frozenset({"response_format", "grammar"})
"""Parameters that say what an answer looks like."""


@runtime_checkable
class Structurable(Protocol):
    """A contract whose answer has a JSON schema."""

    def schema(self, tokens: int) -> Schema:
        """The schema of an answer in at most `tokens`."""


def constrained(
    pin: ModelPin, contract: object, messages: Sequence[Message], tokens: int
) -> ModelPin:
    """`pin` as it is asked for one answer of `contract` in at most `tokens`.

    As it is where it asks for no structure, says by hand what an answer looks like, or the contract
    has no schema. `json_object` goes out only where the prompt speaks of JSON, as OpenAI demands.
    """
    by_hand = FIELDS & set(pin.parameters)
    if pin.structured is Structured.NONE or by_hand or not isinstance(contract, Structurable):
        return pin
    speaks_of_json = any("JSON" in message.content for message in messages)
    fields = _fields(pin, contract.schema(tokens), speaks_of_json)
    return replace(pin, parameters={**pin.parameters, **fields})


@dataclass(frozen=True, slots=True)
class OneWord:
    """The smallest contract, to see whether a model takes structured answers at all."""

    def schema(self, tokens: int) -> Schema:
        """One text."""
        return record(answer=text(tokens, SHORTEST_TEXT))


def probed(pin: ModelPin) -> ModelPin:
    """`pin` with the parameters that its calls will have, whatever they ask."""
    return constrained(pin, OneWord(), (Message("user", "JSON"),), SHORTEST_TEXT)


def _fields(pin: ModelPin, schema: Schema, speaks_of_json: bool) -> dict[str, Any]:
    """What is sent beside the messages."""
    if pin.structured is Structured.GRAMMAR:
        return {"grammar": grammar(schema)}
    if pin.structured is Structured.JSON_OBJECT:
        return {"response_format": {"type": "json_object"}} if speaks_of_json else {}
    shown = schema if pin.bounded else without_lengths(schema)
    form = {"name": "answer", "strict": True, "schema": shown}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def without_lengths(schema: Any) -> Any:
    """`schema` without bounds of lengths."""
    if isinstance(schema, Mapping):
        return {k: without_lengths(v) for k, v in schema.items() if k not in LENGTHS}
    return [without_lengths(item) for item in schema] if isinstance(schema, list) else schema


# -- what contracts build their schema of ----------------------------------------------------------


def record(**fields: Schema) -> Schema:
    """An object of exactly `fields`, written in this order."""
    return keyed(fields)


def keyed(fields: Mapping[str, Schema]) -> Schema:
    """The same for fields whose names are data."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def text(tokens: int, most: int, *, least: int = 0) -> Schema:
    """A text that fits in `tokens`, of `least` to `most` characters."""
    length = max(SHORTEST_TEXT, min(most, tokens * CHARACTERS_A_TOKEN))
    return {"type": "string", "minLength": least, "maxLength": length}


def optional(schema: Schema) -> Schema:
    """`schema`, a text, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def word(*words: str) -> Schema:
    """One of `words`."""
    return {"type": "string", "enum": list(words)}


def score(low: float, high: float) -> Schema:
    """A number from `low` to `high` in tenths.

    Written out: few grammars know the bounds of a number that is not whole.
    """
    tenths = (step / 10 for step in range(round(low * 10), round(high * 10) + 1))
    return {"type": "number", "enum": [int(t) if t.is_integer() else t for t in tenths]}


def listed(item: Schema, least: int, most: int) -> Schema:
    """A list of `least` to `most` items, at least one allowed."""
    return {"type": "array", "items": item, "minItems": least, "maxItems": max(1, least, most)}


# -- llama.cpp's grammars --------------------------------------------------------------------------

_SHARED = (
    'string-char ::= [^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\bfnrt/] | "u" [0-9a-fA-F]{4})',
    'gap ::= " "?',
)


def grammar(schema: Schema) -> str:
    """`schema` in GBNF, of the kinds that are built above."""
    return "\n".join([f"root ::= {_rule(schema)}", *_SHARED])


def _rule(schema: Schema) -> str:
    """The right side of the rule of a schema."""
    if "enum" in schema:
        return "(" + " | ".join(_literal(json.dumps(value)) for value in schema["enum"]) + ")"
    kind = schema["type"]
    if isinstance(kind, list):
        return f'({_rule({**schema, "type": kind[0]})} | "null")'
    if kind == "string":
        return f'"\\"" string-char{{{schema["minLength"]},{schema["maxLength"]}}} "\\""'
    if kind == "array":
        return _list_rule(schema)
    return " ".join(['"{" gap', *_pairs(schema["properties"]), 'gap "}"'])


def _list_rule(schema: Schema) -> str:
    item = _rule(schema["items"])
    least, most = schema["minItems"], schema["maxItems"]
    more = f'("," gap {item}){{{max(0, least - 1)},{most - 1}}}'
    inside = f"{item} {more}" if least else f"({item} {more})?"
    return f'"[" gap {inside} gap "]"'


def _pairs(properties: Mapping[str, Schema]) -> Iterator[str]:
    for place, (name, value) in enumerate(properties.items()):
        comma = '"," gap ' if place else ""
        yield f'{comma}{_literal(json.dumps(name))} ":" gap {_rule(value)}'


def _literal(written: str) -> str:
    """A text as a literal of the grammar; JSON's escapes are those of GBNF."""
    return json.dumps(written, ensure_ascii=False)
