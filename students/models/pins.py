"""Model pins: which model a name means, how it is asked, and what it costs.

A model is used only if the pins file names it, so that a campaign's config says exactly what was
asked. Keys never stand in the file; an entry names the environment variable that holds its key.
The simulated models are pinned here: they are part of the product and free.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from heldout.splits.errors import BadInput
from heldout.students.models.chat import ModelPin
from heldout.students.models.pins_file import Entry, read_entries

SIMULATED = ("sim/judge", "sim/reflector", "sim/placebo")
COMPATIBLE = frozenset({"openai", "hosted_vllm", "llamafile", "lm_studio", "custom_openai"})
"""Providers whose own endpoints (`api_base`) speak the OpenAI protocol."""


class ClientKind(StrEnum):
    """The way to a model: in process, straight to an OpenAI-compatible server, or LiteLLM."""

    SIMULATED = "simulated"
    DIRECT = "direct"
    LITELLM = "litellm"


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A pin with the way to it.

    `efforts` are the reasoning efforts the model accepts, None where the file does not say;
    `priced_on` is the date of the prices; `cap_field` what the server calls the reply's cap.
    """

    name: str
    pin: ModelPin
    door: ClientKind
    api_base: str | None = None
    key_env: str | None = None
    efforts: tuple[str, ...] | None = None
    priced_on: str | None = None
    cap_field: str = "max_tokens"


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
    )
    provider = pin.id.partition("/")[0]
    direct = entry.api_base is not None and provider in COMPATIBLE
    return PinnedModel(
        name=name,
        pin=pin,
        door=(entry.door and ClientKind(entry.door))
        or (ClientKind.DIRECT if direct else ClientKind.LITELLM),
        api_base=entry.api_base,
        key_env=entry.key_env,
        efforts=None if entry.efforts is None else tuple(entry.efforts),
        priced_on=str(prices.date) if prices else None,
        cap_field=entry.cap_field,
    )
