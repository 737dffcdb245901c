"""What can be known of models before anything is sent: their keys, their doors, what they take.

Every command that asks models runs these checks; each fault names the option or key that asks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from heldout.experiments.checking.checklist import Check, demand, refuse
from heldout.splits.errors import Fault
from heldout.students.models.chat import Budget
from heldout.students.models.clients import model_faults
from heldout.students.models.litellm_client import key_variables
from heldout.students.models.pins import ClientKind, PinnedModel

PACKAGES = {ClientKind.LITELLM: "litellm", ClientKind.DIRECT: "httpx"}
"""What each door needs to be installed."""


@dataclass(frozen=True)
class ModelUse:
    """A model as a command uses it.

    `where` is the option or key that asks for it, `budgets` what single calls may spend.
    """

    where: str
    model: PinnedModel
    budgets: tuple[Budget, ...]

    @property
    def place(self) -> str:
        """How a fault names it."""
        return f"{self.where} {self.model.pin.id}"

    @property
    def connected(self) -> bool:
        """True for a model outside this process."""
        return self.model.client is not ClientKind.SIMULATED


class AsksModels(Protocol):
    """What is checked: the models that a command asks, and what it may spend on them."""

    @property
    def uses(self) -> Sequence[ModelUse]:
        """The models. Raises BadInput where one is not pinned."""

    @property
    def unpriced(self) -> Sequence[Fault]:
        """Caps in USD beside models whose price is not known."""


@dataclass(frozen=True)
class ModelsAsked:
    """The models of a command that has found them already."""

    uses: Sequence[ModelUse]
    unpriced: Sequence[Fault] = ()


def _pinned(subject: AsksModels) -> str:
    return ", ".join(dict.fromkeys(f"{use.where} {use.model.pin.id}" for use in subject.uses))


def _doors(subject: AsksModels) -> str:
    needed = [(use, PACKAGES[use.model.client]) for use in subject.uses if use.connected]
    missing = ((use, name) for use, name in needed if find_spec(name) is None)
    refuse(_together((use, f"needs the package {name}") for use, name in missing))
    return ", ".join(dict.fromkeys(name for _, name in needed)) or "all models are programs"


def _keys(subject: AsksModels) -> str:
    wrong = ((use, _key_fault(use)) for use in subject.uses if use.connected)
    refuse(_together((use, message) for use, message in wrong if message))
    named = [use.model.key_env for use in subject.uses if use.connected]
    return ", ".join(dict.fromkeys(name for name in named if name)) or "no model names one"


def _key_fault(use: ModelUse) -> str:
    """A key that is not set, or that no header can carry; no key stands in what is said of it."""
    model, name = use.model, use.model.key_env
    if name is None:
        lacking = key_variables(model) if model.client is ClientKind.LITELLM else ()
        if not lacking:
            return ""
        message = f"its key is not set; set the environment variable {' or '.join(lacking)}"
        return f"{message}, or name another one as key_env in the pins file"
    value = os.environ.get(name, "")
    if not value.strip():
        return f"its key is not set; set the environment variable {name} (key_env)"
    if value != value.strip() or not (value.isascii() and value.isprintable()):
        message = f"the key in the environment variable {name} holds a space at an end, a line end"
        return f"{message} or a letter that no header can carry"
    return ""


def _together(wrong: Iterable[tuple[ModelUse, str]]) -> Iterator[Fault]:
    """One fault for each message, however many uses it is about."""
    places: dict[str, list[str]] = {}
    for use, message in wrong:
        places.setdefault(message, []).append(use.place)
    return (Fault(", ".join(dict.fromkeys(found)), said) for said, found in places.items())


def _taken(subject: AsksModels) -> str:
    """Efforts, temperatures and parameters, as far as they are known without a call."""
    faults = (
        fault
        for use in subject.uses
        for budget in use.budgets
        for fault in model_faults(use.model, budget, use.where)
    )
    refuse(faults)
    return "nothing is asked that is known not to be taken"


def _prices(subject: AsksModels) -> str:
    refuse(subject.unpriced)
    names = dict.fromkeys(use.model.pin.id for use in subject.uses if not use.model.pin.priced)
    return f"unknown for {', '.join(names)}" if names else "known"


KEYS: Check[AsksModels] = Check(
    "keys", _keys, "export the variable in the shell that starts heldout"
)
TAKEN: Check[AsksModels] = Check(
    "efforts and parameters", _taken, "change effort, temperature or parameters as said"
)

MODEL_CHECKS: tuple[Check[AsksModels], ...] = (
    Check("models", _pinned, "name a model of the pins file, or add it there (docs/models.md)"),
    Check("doors", _doors, "pip install the package that is named"),
    KEYS,
    TAKEN,
    Check("prices", _prices, "give prices in the pins file, or cap tokens or calls instead"),
)
"""What every command that asks models checks first."""


def demand_models(uses: Iterable[ModelUse], unpriced: Sequence[Fault]) -> None:
    """Run `MODEL_CHECKS` on models that are found already. Raises BadInput with every fault."""
    demand(ModelsAsked(tuple(uses), unpriced), MODEL_CHECKS)
