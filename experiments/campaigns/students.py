"""The judge a configuration names, built from the roster of designs."""

from __future__ import annotations

from heldout.experiments.campaigns.config import Config
from heldout.splits.errors import BadInput
from heldout.students.calls.answering import Calls, NoCalls
from heldout.students.designs.roster import Design, Family, find_design
from heldout.students.designs.workshop import Roles, Workshop
from heldout.students.models.chat import ModelPin
from heldout.students.student import Student


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
    workshop = Workshop(Roles.all(pin), caller or NoCalls(), config.seed, occasion=occasion)
    return design_of(config).build(workshop)
