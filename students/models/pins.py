"""Model pins: which model a name means, how it is asked, and what it costs.

A model is used only if the pins file names it, so that a campaign's config says exactly what was
asked. Keys never stand in the file; an entry names the environment variable that holds its key.
The simulated models are pinned here: they are part of the product and free.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.yaml_file import read_yaml
from heldout.students.models.chat import (
    BODY_BYTES,
    Budget,
    Dialect,
    ModelPin,
    StopReason,
    Structured,
)
from heldout.students.models.normalise import ending_name
from heldout.students.models.pins_file import Entry, read_entries

SIMULATED = ("sim/judge", "sim/reflector", "sim/placebo")
COMPATIBLE = frozenset({"openai", "hosted_vllm", "llamafile", "lm_studio", "custom_openai"})
"""Providers whose own endpoints (`api_base`) speak the OpenAI protocol."""

ROLES = ("judge", "extractor", "auditor", "second_look", "reflector")
"""Parts of a judge design; the pins file may name a model for each (`roles:`, beside `models`)."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""From the least reasoning to the most; other words are a provider's own."""
ENDINGS = {
    "stop": StopReason.STOP,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.FILTER,
}
"""What a finish reason of an endpoint's own may be said to mean."""


class ClientKind(StrEnum):
    """The way to a model: in process, straight to an OpenAI-compatible server, or LiteLLM."""

    SIMULATED = "simulated"
    DIRECT = "direct"
    LITELLM = "litellm"


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A pin with the way to it.

    `efforts` are the reasoning efforts the model accepts, None where the file does not say;
    `priced_on` is the date of the prices; `cap_field` what the server calls the reply's cap;
    `body_bytes` how much of a reply's body is read.
    """

    name: str
    pin: ModelPin
    client: ClientKind
    api_base: str | None = None
    key_env: str | None = None
    efforts: tuple[str, ...] | None = None
    priced_on: str | None = None
    cap_field: str = "max_tokens"
    body_bytes: int = BODY_BYTES


@dataclass(frozen=True, slots=True)
class Pins:
    """All pinned models by name; `source` is the file they stand in, for messages."""

    models: Mapping[str, PinnedModel]
    source: str = ""

    def find(self, name: str, where: str) -> PinnedModel:
        """The model called `name`; `where` is the option that asks for it.

        Raises BadInput for a model that is not pinned.
        """
        found = self.models.get(name)
        if found is not None:
            return found
        near = difflib.get_close_matches(name, self.models, n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(self.models)}"
        place = self.source or "any pins file"
        raise BadInput.one(where, f"model {name} is not pinned in {place}{hint}")


def simulated_pins() -> dict[str, PinnedModel]:
    """The models that come with Heldout; their price is known to be 0."""
    return {
        name: PinnedModel(name, ModelPin(name, 1.0, {}, 0.0, 0.0, 0.0), ClientKind.SIMULATED)
        for name in SIMULATED
    }


def load_pins(path: Path | None) -> Pins:
    """The simulated models and those of the file at `path`, if one is given.

    Raises BadInput with every fault of the file: unreadable, unknown field, a key in it, the same
    model at two endpoints.
    """
    models = simulated_pins()
    if path is None:
        return Pins(models)
    for name, entry in read_entries(path).items():
        models[name] = _pinned(name, entry)
    return Pins(models, str(path))


def _pinned(name: str, entry: Entry) -> PinnedModel:
    prices = entry.prices
    pin = ModelPin(
        id=entry.model or name,
        temperature=entry.temperature,
        parameters=entry.parameters,
        usd_per_million_prompt=prices.prompt if prices else None,
        usd_per_million_completion=prices.completion if prices else None,
        usd_per_million_cached=prices.cached if prices else None,
        structured=Structured(entry.structured),
        bounded=entry.api_base is not None,
        dialect=Dialect(
            omit=tuple(entry.omit),
            counts_tokens=entry.usage is None,
            endings={
                ending_name(word): ENDINGS[meaning] for word, meaning in entry.endings.items()
            },
        ),
    )
    provider = pin.id.partition("/")[0]
    direct = entry.api_base is not None and provider in COMPATIBLE
    return PinnedModel(
        name=name,
        pin=pin,
        client=(entry.door and ClientKind(entry.door))
        or (ClientKind.DIRECT if direct else ClientKind.LITELLM),
        api_base=entry.api_base,
        key_env=entry.key_env,
        efforts=None if entry.efforts is None else tuple(entry.efforts),
        priced_on=str(prices.date) if prices else None,
        cap_field=entry.cap_field,
        body_bytes=round(entry.body_mb * 1e6),
    )


def read_roles(path: Path, pins: Pins) -> dict[str, PinnedModel]:
    """The models by role that the pins file at `path` names; `pins` are its models.

    Raises BadInput with every fault: an unknown role, a model that is not pinned.
    """
    file = read_yaml(path)
    roles = file.tree.get("roles") or {}
    if not isinstance(roles, Mapping):
        raise BadInput.one(file.where(("roles",)), "must map roles to names of models")
    faults: list[Fault] = []
    found: dict[str, PinnedModel] = {}
    for role, name in roles.items():
        where = file.where(("roles", role))
        if role not in ROLES:
            near = difflib.get_close_matches(str(role), ROLES, n=1)
            hint = f"did you mean {near[0]}?" if near else f"roles: {', '.join(ROLES)}"
            faults.append(Fault(where, f"there is no such role; {hint}"))
            continue
        try:
            found[role] = pins.find(str(name), where)
        except BadInput as error:
            faults.extend(error.faults)
    if faults:
        raise BadInput(faults)
    return found


def require(roles: Mapping[str, PinnedModel], needed: Iterable[str], where: str) -> None:
    """Raise BadInput for every role of `needed` that has no model; `where` is where to pin it."""
    missing = [role for role in needed if role not in roles]
    if missing:
        raise BadInput(
            [Fault(where, f"role {role} is not pinned; name a model for it") for role in missing]
        )


def effort_faults(model: PinnedModel, budget: Budget, where: str) -> list[Fault]:
    """What is wrong with the effort `budget` asks of `model`; `where` is the option that asks."""
    effort = budget.reasoning_effort
    if effort is None or model.client is ClientKind.SIMULATED:
        return []
    place = f"{where} {model.pin.id}"
    if model.efforts is None:
        if model.client is ClientKind.LITELLM:
            return []
        return [
            Fault(
                place,
                f"whether it takes reasoning_effort {effort!r} is not known; list what it takes "
                f"as models.{model.name}.efforts in the pins file",
            )
        ]
    if effort in model.efforts:
        return []
    if not model.efforts:
        return [Fault(place, f"takes no reasoning_effort, {effort!r} is asked for; leave it out")]
    near = nearest_effort(effort, model.efforts)
    hint = f"; the nearest is {near!r}" if near else ""
    return [
        Fault(
            place,
            f"does not take reasoning_effort {effort!r}; it takes {', '.join(model.efforts)}{hint}",
        )
    ]


def nearest_effort(effort: str, accepted: Sequence[str]) -> str | None:
    """The accepted effort nearest to `effort`, the lower of two; None for an unknown word."""
    if effort not in EFFORTS:
        return None
    known = [word for word in EFFORTS if word in accepted]
    place = EFFORTS.index(effort)
    return min(known, key=lambda word: abs(EFFORTS.index(word) - place), default=None)
