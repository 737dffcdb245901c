"""Why a winner was not emitted, in words: the one table that every page and command reads."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "exploratory": "the look at held-out was beyond the plan, so the run is exploratory",
    "drift": "the baseline scored differently when judged again",
    "gate:too_few": "the held-out consultations are too few for any decision",
    "gate": "the held-out difference does not pass the gate",
    "gate:noise": "the difference is within what one run moves from another",
    "gate:family": "the difference is not shown once the family is adjusted for",
    "gate:usable": "the winner is not shown to be usable as a flag",
    "no_proposal": "no proposal of the reflector was usable, so nothing was searched",
    "seed_won": "no proposal beat the seeds on accept, so no held-out look was bought",
    "pre_gate": "accept does not show what the gate asks for, so no held-out look was bought",
}
"""By reason. Of two that hold the one that stands first here is given; `side:` comes last."""

SIDE = "side:"
"""Begins a reason that names a side condition."""


def outranks(reason: str, other: str) -> bool:
    """True where `reason` is the weightier of the two."""
    return _place(reason) < _place(other)


def side_words(measure: str, cleared: bool) -> str:
    """Why a side condition refuses: harm is shown, or (`cleared`) is not excluded and has to be."""
    name = measure.replace("_", " ")
    if cleared:
        return f"harm on a side measure is not excluded, as gate.sides asks: {name}"
    return f"harm on a side measure is shown: {name}"


def reason_words(reason: str) -> str:
    """A reason as a clause."""
    if reason in REASONS:
        return REASONS[reason]
    return side_words(reason.removeprefix(SIDE), cleared=False)


def _place(reason: str) -> int:
    order = list(REASONS)
    return order.index(reason) if reason in order else len(order)
