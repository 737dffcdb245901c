"""A sitting: judging outside a campaign, with a model pinned, a store, a ledger and one design."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from heldout.experiments.practice.loaded_prompt import Taken
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.errors import BadInput
from heldout.students.calls.answering import Calls
from heldout.students.calls.caller import Caller, never
from heldout.students.calls.ledger import Caps, Ledger, price_faults
from heldout.students.calls.store import CallStore, Reuse
from heldout.students.designs.roster import find_design
from heldout.students.designs.workshop import Roles, Workshop
from heldout.students.models.chat import Budget, ChatModel
from heldout.students.models.clients import model_faults, open_models
from heldout.students.models.pins import PinnedModel, Pins, load_pins
from heldout.students.student import Student

DEFAULT_SEED = 11
"""Stands in the command line's help; nothing below it has a seed by default."""


@dataclass(frozen=True)
class Asking:
    """How a block is asked: what a person may choose; None takes what the block came with.

    `model` is a name in the pins file `models`. `doubles` replace simulated models, for tests.
    """

    seed: int
    model: str | None = None
    models: Path | None = None
    temperature: float | None = None
    concurrency: int = 8
    caps: Caps = field(default_factory=Caps)
    doubles: Mapping[str, ChatModel] = field(default_factory=dict)


@dataclass(frozen=True)
class Desk:
    """What judges with one store; `build` makes the student on its caller."""

    store: CallStore
    ledger: Ledger
    caller: Caller
    runner: asyncio.Runner
    student: Student


def pinned_for(taken: Taken, asking: Asking, budgets: Sequence[Budget]) -> PinnedModel:
    """The model that will judge, checked for every budget before anything is sent.

    Raises BadInput for a model that is not pinned, an effort it does not take, a price that a cap
    needs.
    """
    pins = load_pins(asking.models or _models_of(taken))
    model = pins.find(asking.model, "--model") if asking.model else _by_id(pins, taken.model)
    if asking.model is None:
        own = replace(model.pin, temperature=taken.temperature, parameters=taken.parameters)
        model = replace(model, pin=own)
    if asking.temperature is not None:
        model = replace(model, pin=replace(model.pin, temperature=asking.temperature))
    faults = price_faults({"judge": model.pin}, asking.caps)
    for budget in budgets:
        faults += model_faults(model, budget, "--effort")
    if faults:
        raise BadInput(list(dict.fromkeys(faults)))
    return model


def seed_of(taken: Taken) -> int:
    """The seed of the run a block was taken from, so that its calls are the same ones; else 11."""
    if taken.run is None:
        return DEFAULT_SEED
    return int(yaml.safe_load((taken.run / "config.yaml").read_text("utf-8"))["seed"])


def _by_id(pins: Pins, model: str) -> PinnedModel:
    """The pinned model with this provider id: cards name what was asked, not the pin's name."""
    for pinned in pins.models.values():
        if pinned.pin.id == model:
            return pinned
    return pins.find(model, "--model")


def _models_of(taken: Taken) -> Path | None:
    """The pins file of the run a block was taken from."""
    if taken.run is None or not (taken.run / "config.yaml").is_file():
        return None
    named = yaml.safe_load((taken.run / "config.yaml").read_text("utf-8")).get("models")
    return None if named is None else Path(named)


def build_student(taken: Taken, model: PinnedModel, calls: Calls, seed: int) -> Student:
    """The design of `taken`, built as a campaign builds it.

    Raises BadInput where this version's frame of the design is another one.
    """
    shop = Workshop(Roles.all(model.pin), calls, seed)
    student = find_design(taken.design, taken.name).build(shop)
    if student.frame.sha256 != taken.frame.sha256:
        raise BadInput.one(taken.name, f"the frame of design {taken.design} has changed since")
    return student


@contextmanager
def desk(
    url: str,
    run_id: str,
    taken: Taken,
    model: PinnedModel,
    asking: Asking,
    *,
    ledger: Ledger | None = None,
    stop: Callable[[], str | None] = never,
) -> Iterator[Desk]:
    """Open store and models for `run_id` and close them again.

    Calls of other runs on the same store are used. A `ledger` that is handed in goes on counting.
    """
    store = CallStore(url, run_id, Reuse.READ_WRITE)
    if ledger is None:
        ledger = Ledger(asking.caps)
        ledger.restore(store.calls())
    for call in store.calls():
        ledger.charge(call)
    with asyncio.Runner() as runner:
        models = open_models([model], {**simulated_models(), **asking.doubles})
        try:
            caller = Caller(
                runner.run(models.__aenter__()),
                store,
                ledger,
                concurrency=asking.concurrency,
                stop=stop,
            )
            student = build_student(taken, model, caller, asking.seed)
            yield Desk(store, ledger, caller, runner, student)
        finally:
            runner.run(models.__aexit__(None, None, None))
            store.close()


def identity(taken: Taken, model: PinnedModel, budget: Budget, samples: int) -> dict[str, Any]:
    """What a threshold depends on: block, frame, model, budget and samples."""
    return {
        "design": taken.design,
        "block_sha256": taken.sha256,
        "frame_sha256": taken.frame.sha256,
        "model": model.pin.id,
        "temperature": model.pin.temperature,
        "parameters": dict(model.pin.parameters),
        "max_tokens": budget.max_tokens,
        "reasoning_effort": budget.reasoning_effort,
        "samples": samples,
    }
