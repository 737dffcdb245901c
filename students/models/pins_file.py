"""The pins file: YAML, strictly typed, every fault at once with its line.

models:
  openai/gpt-5:                       # a name for the configs; the LiteLLM id unless `model` says
    temperature: 1.0
    efforts: [minimal, low, medium, high]
    prices: {prompt: 1.25, completion: 10.0, cached: 0.125, date: 2025-08-07}
  local/judge:
    model: openai/smollm2
    api_base: http://127.0.0.1:8080/v1
    key_env: LOCAL_API_KEY
    prices: {prompt: 0, completion: 0, date: 2025-01-01}
    omit: [seed]                        # what the server refuses: seed, temperature
    usage: estimated                    # it counts no tokens
    endings: {eot: stop}                # finish reasons of its own
    body_mb: 8                          # how much of a reply is read
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.yaml_file import YamlFile, read_yaml
from heldout.students.models.chat import BODY_BYTES
from heldout.students.models.secrets import looks_secret, redact

Price = Annotated[float, Field(ge=0)]


class Strict(BaseModel):
    """No unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TokenPrices(Strict):
    """USD a million tokens, and the day they were looked up."""

    prompt: Price
    completion: Price
    cached: Price | None = None
    date: datetime.date


class Entry(Strict):
    """One model of the file. `model` is its LiteLLM id, the entry's name by default."""

    model: str | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 1.0
    parameters: dict[str, Any] = {}
    efforts: list[str] | None = None
    api_base: Annotated[str, Field(pattern=r"^https?://[^\s@]+$")] | None = None
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    door: Literal["direct", "litellm"] | None = None
    cap_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    structured: Literal["json_schema", "json_object", "grammar", "none"] = "none"
    omit: list[Literal["seed", "temperature"]] = []
    usage: Literal["estimated"] | None = None
    endings: dict[str, Literal["stop", "length", "content_filter"]] = {}
    body_mb: Annotated[float, Field(gt=0, le=1000)] = BODY_BYTES / 1e6
    prices: TokenPrices | None = None


ENDPOINT = {"api_base", "key_env", "door", "cap_field", "omit", "usage", "endings", "body_mb"}
"""What two entries of one model id may not differ in."""

RESERVED = frozenset(
    {"model", "messages", "temperature", "seed", "max_tokens", "max_completion_tokens"}
    | {"dialect"}
    | {"reasoning_effort", "stream", "n", "api_base", "base_url", "num_retries", "drop_params"}
)
"""Parameters that the call itself sets, or that would change what a call is."""


def read_entries(path: Path) -> dict[str, Entry]:
    """The entries of the file by name. Raises BadInput with every fault found."""
    file = _document(path)
    entries: dict[str, Entry] = {}
    faults: list[Fault] = []
    for name, fields in file.tree["models"].items():
        where = file.where(("models", name))
        try:
            entry = Entry.model_validate({} if fields is None else fields)
        except ValidationError as error:
            faults.extend(_faults(error, file, name))
            continue
        entries[name] = entry
        faults.extend(_unfit(entry, where))
        if "/" not in (entry.model or name):
            faults.append(Fault(where, "a model id is <provider>/<model>; give `model`"))
    faults.extend(_clashes(entries, file))
    if faults:
        raise BadInput(faults)
    return entries


def parameter_faults(parameters: Mapping[str, Any], where: str) -> Iterator[Fault]:
    """What may not stand among the extra parameters of a model: keys, and what a call sets."""
    for name, value in parameters.items():
        if name in RESERVED:
            yield Fault(where, f"parameters.{name}: is set by Heldout for every call; leave it out")
        elif looks_secret(name) or "header" in name.lower() or redact(str(value)) != str(value):
            yield Fault(
                where,
                f"parameters.{name}: looks like a secret; keys stand in the environment only, "
                "name the variable in key_env",
            )
        elif isinstance(value, Mapping):
            yield from parameter_faults(value, where)


def _unfit(entry: Entry, where: str) -> Iterator[Fault]:
    yield from parameter_faults(entry.parameters, where)
    if entry.door == "direct" and entry.api_base is None:
        yield Fault(where, "door: direct needs an api_base")
    if entry.structured == "grammar" and entry.api_base is None:
        yield Fault(where, "structured: grammar is a field of llama.cpp; it needs an api_base")


def _clashes(entries: Mapping[str, Entry], file: YamlFile) -> Iterator[Fault]:
    """Calls are told apart by the model's id, so one id may not mean two endpoints."""
    ways: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, entry in entries.items():
        way = entry.model_dump(include=ENDPOINT)
        first, known = ways.setdefault(entry.model or name, (name, way))
        if way != known:
            yield Fault(
                file.where(("models", name)),
                f"asks for {entry.model or name} at another endpoint than models.{first}; "
                "one id means one endpoint",
            )


def _document(path: Path) -> YamlFile:
    shape = "must hold `models`, a mapping of names to pins, and at most `roles` beside"
    file = read_yaml(path, shape)
    if not isinstance(file.tree.get("models"), dict) or not set(file.tree) <= {"models", "roles"}:
        raise BadInput.one(str(path), shape)
    return file


def _faults(error: ValidationError, file: YamlFile, name: str) -> Iterator[Fault]:
    for found in error.errors(include_url=False, include_input=False):
        said = found["msg"]
        if found["type"] == "extra_forbidden":
            said = f"no such field{_near(str(found['loc'][-1]), Entry.model_fields)}"
        yield Fault(file.where(("models", name, *found["loc"])), said)


def _near(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"
