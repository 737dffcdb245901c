"""Reasoning efforts: what a pin accepts, checked before anything is sent, never substituted."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.splits.errors import Fault
from heldout.students.models.chat import Budget
from heldout.students.models.pins import ClientKind, PinnedModel

ORDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""From the least reasoning to the most; other words are a provider's own."""


def effort_faults(model: PinnedModel, budget: Budget, where: str) -> list[Fault]:
    """What is wrong with the effort `budget` asks of `model`; `where` is the option that asks."""
    effort = budget.reasoning_effort
    if effort is None or model.door is ClientKind.SIMULATED:
        return []
    place = f"{where} {model.pin.id}"
    if model.efforts is None:
        if model.door is ClientKind.LITELLM:
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
    near = nearest(effort, model.efforts)
    hint = f"; the nearest is {near!r}" if near else ""
    return [
        Fault(
            place,
            f"does not take reasoning_effort {effort!r}; it takes {', '.join(model.efforts)}{hint}",
        )
    ]


def nearest(effort: str, accepted: Sequence[str]) -> str | None:
    """The accepted effort nearest to `effort`, the lower of two; None for words not in `ORDER`."""
    if effort not in ORDER:
        return None
    known = [word for word in ORDER if word in accepted]
    place = ORDER.index(effort)
    return min(known, key=lambda word: abs(ORDER.index(word) - place), default=None)
