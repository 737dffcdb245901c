"""Flag rules: when a judge calls a note faulty, fixed before any data was seen."""

from __future__ import annotations

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
