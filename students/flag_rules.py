"""Flag rules, fixed before any data was seen, and how several answers about a note become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heldout.students.contracts import Answer


class FlagRule(Protocol):
    """Decides on one answer."""

    def flags(self, answer: Answer) -> bool:
        """True if the note is called faulty."""


@dataclass(frozen=True)
class AtMost:
    """Flags a score of `threshold` or less."""

    threshold: float

    def flags(self, answer: Answer) -> bool:
        """Score <= threshold."""
        return answer.score <= self.threshold


@dataclass(frozen=True)
class Below:
    """Flags a score below `threshold`."""

    threshold: float

    def flags(self, answer: Answer) -> bool:
        """Score < threshold."""
        return answer.score < self.threshold


@dataclass(frozen=True)
class AnyListed:
    """Flags a note if the judge lists a gap of one of `severities`, whatever its score."""

    severities: tuple[str, ...] = ("critical",)

    def flags(self, answer: Answer) -> bool:
        """True if such a gap is listed."""
        return any(finding.severity in self.severities for finding in answer.findings)


def winsorised_mean(values: Sequence[float]) -> float:
    """Mean after the lowest and the highest value were replaced by their nearest kept ones.

    With fewer than three values there is nothing to replace by: the plain mean. Raises ValueError
    for no values.
    """
    if not values:
        raise ValueError("the mean of no values")
    ordered = sorted(values)
    if len(ordered) >= 3:
        ordered[0], ordered[-1] = ordered[1], ordered[-2]
    return sum(ordered) / len(ordered)


def majority(flags: Sequence[bool]) -> bool:
    """True if more than half of `flags` are set; a tie is no majority."""
    return 2 * sum(flags) > len(flags)
