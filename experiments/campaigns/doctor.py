"""`heldout doctor`: the checks of a start, one by one, each with what mends it; and a ping."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.checks import BEGINNING
from heldout.experiments.campaigns.examination import Examination
from heldout.experiments.campaigns.first_calls import ready
from heldout.experiments.campaigns.running import new_buyer
from heldout.experiments.campaigns.session import RunOptions
from heldout.experiments.checking.checklist import CheckResult, examine, faults_of
from heldout.experiments.checking.models import ModelUse
from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import RunDirectory, default_run_dir
from heldout.splits.errors import Fault, InfrastructureFailure, UserFault
from heldout.students.models.chat import ChatModel, ChatReply, ChatRequest
from heldout.students.models.clients import open_models

PING_S = 60.0
"""How long one call of a ping may take."""
SEED = 1
"""Seed of a ping; nothing depends on it."""


@dataclass(frozen=True)
class Doctor:
    """What was found, check by check."""

    results: tuple[CheckResult, ...]

    @property
    def exit_status(self) -> int:
        """0 where everything is well, else 2."""
        return 0 if all(result.state == "ok" for result in self.results) else 2

    @property
    def text(self) -> str:
        """A line a check, the faults and the remedy below it."""
        lines = []
        for result in self.results:
            said = {"ok": result.told, "waits": "waits for what is wrong above", "fault": ""}
            lines.append(f"{result.state:<6} {result.name}: {said[result.state]}".rstrip(": "))
            lines += [f"       {fault}" for fault in result.faults]
            lines += [f"       remedy: {result.remedy}"] if result.faults else []
        wrong = sum(len(result.faults) for result in self.results)
        told = "1 fault" if wrong == 1 else f"{wrong} faults"
        return "\n".join([*lines, told if wrong else "everything is well"])

    def to_json(self) -> dict[str, Any]:
        """`{ok, checks: [{check, state, told, faults, remedy}]}`."""
        return {
            "ok": self.exit_status == 0,
            "checks": [
                {
                    "check": result.name,
                    "state": result.state,
                    "told": result.told,
                    "faults": [str(fault) for fault in result.faults],
                    "remedy": result.remedy,
                }
                for result in self.results
            ],
        }


def doctor(
    config_file: Path,
    settings: Sequence[str] = (),
    *,
    run_dir: Path | None = None,
    acknowledge_reuse: bool = False,
    ping: bool = False,
) -> Doctor:
    """Examine a configuration as a start does. Writes nothing; `ping` sends one call a model."""
    known: list[Config] = []

    def loaded() -> str:
        known.append(load_config(config_file, settings))
        return f"{config_file}, campaign {known[0].name}"

    first = _found("configuration", loaded, "mend the key that is named; docs have every key")
    if not known:
        return Doctor((first,))
    (config,) = known
    run = RunDirectory(run_dir or default_run_dir(config.name))
    buyer = new_buyer(config, RunOptions(acknowledge_reuse=acknowledge_reuse))
    examination = Examination(config, run, buyer)
    results = examine(examination, BEGINNING)
    if ping and not any(result.faults for result in results if result.name in ASKS):
        results += [_pinged(use) for use in _apart(examination.uses)]
    return Doctor((first, *results))


ASKS = frozenset({"models", "doors", "keys", "efforts and parameters"})
"""The checks without which no call can be sent."""


def _found(name: str, find: Callable[[], str], remedy: str) -> CheckResult:
    try:
        return CheckResult(name, remedy, told=find())
    except UserFault as error:
        return CheckResult(name, remedy, error=error, faults=tuple(faults_of(error)))


def _apart(uses: Sequence[ModelUse]) -> list[ModelUse]:
    """Each connected model once for each budget that it is asked at."""
    found = {(use.model.pin.id, use.budgets): use for use in reversed(uses) if use.connected}
    return list(reversed(found.values()))


def _pinged(use: ModelUse) -> CheckResult:
    """One call, and what came back."""
    remedy = "mend what the answer says: key, address, name of the model, parameters of its pin"
    name = f"ping {use.place}"
    started = time.monotonic()
    try:
        reply = asyncio.run(_answer(use))
    except InfrastructureFailure as error:
        fault = Fault(use.place, f"{error.kind}: {error}")
        failed = UserFault(str(fault))
        return CheckResult(name, remedy, error=failed, faults=(fault,))
    usage, seconds = reply.usage, time.monotonic() - started
    told = f"{seconds:.2f} s, {usage.prompt} tokens read, {usage.completion} written"
    return CheckResult(name, remedy, told=f"{told}, served {reply.model}, finish {reply.finish}")


async def _answer(use: ModelUse) -> ChatReply:
    nobody: dict[str, ChatModel] = {}
    message, pin = ready(use.model.pin)
    request = ChatRequest(pin, (message,), use.budgets[0], SEED)
    async with open_models([use.model], nobody) as opened:
        try:
            async with asyncio.timeout(PING_S):
                return await opened[use.model.pin.id].complete(request)
        except TimeoutError:
            raise InfrastructureFailure(f"no reply within {PING_S:g} s", kind="timeout") from None
