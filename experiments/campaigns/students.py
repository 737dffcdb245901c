"""The judge a configuration names, built from the roster of designs."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.experiments.campaigns.schema import Config
from heldout.splits.errors import BadInput
from heldout.students.calling import Calls
from heldout.students.calls import CallSpec
from heldout.students.chat import ModelPin
from heldout.students.designs.roster import Design, Family, find_design
from heldout.students.designs.workshop import Roles, Workshop
from heldout.students.student import Student


@dataclass(frozen=True)
class NoCalls:
    """Stands for the caller while a student is only looked at."""

    async def call(self, spec: CallSpec) -> object:
        """Nothing is asked before everything is checked."""
        raise RuntimeError(f"a {spec.stage} call before the run has begun")


def design_of(config: Config) -> Design:
    """The design, whose block can evolve. Raises BadInput for an unknown one and for controls."""
    design = find_design(config.student.design, "student.design")
    if design.family is Family.CONTROL:
        message = f"{design.name} is a control: it has no block that could evolve"
        raise BadInput.one("student.design", message)
    return design


def build_student(
    config: Config, pin: ModelPin, caller: Calls | None = None, occasion: str = ""
) -> Student:
    """The judge, with `pin` in every role; `occasion` buys the calls about notes afresh.

    Without a caller it can be looked at (frame, score range, calls), not asked.
    """
    calls: Calls = NoCalls() if caller is None else caller  # type: ignore[assignment]
    workshop = Workshop(Roles.all(pin), calls, config.seed, occasion=occasion)
    return design_of(config).build(workshop)
