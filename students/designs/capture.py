"""How verdicts on facts become a score, and the rule that flags on a single absent fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from heldout.students.designs.facts import Fact, FactSheet
from heldout.students.student import ReportedGap

SEVERITY_WEIGHTS: Mapping[str, float] = {"critical": 4.0, "supporting": 2.0, "peripheral": 1.0}
"""Weight of a fact in severity-weighted capture; an ungraded fact weighs 1."""


@dataclass(frozen=True)
class CaptureScale:
    """Reads a checker's words.

    `meaning` maps each word accepted to a verdict, `credit` each verdict to a share in [0, 1];
    `weights` maps severities to weights, empty for equal ones.
    """

    meaning: Mapping[str, str]
    credit: Mapping[str, float]
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """What a reply may say."""
        return tuple(self.meaning)

    def share(self, sheet: FactSheet, verdicts: Mapping[str, str], *, weighted: bool) -> float:
        """Credit earned over credit possible, in [0, 1]."""
        given = self.weights if weighted else {}
        weights = {fact.id: given.get(fact.severity, 1.0) for fact in sheet.facts}
        earned = sum(weights[key] * self.credit[verdict] for key, verdict in verdicts.items())
        return earned / sum(weights.values())

    def absent(self, sheet: FactSheet, verdicts: Mapping[str, str]) -> tuple[Fact, ...]:
        """The facts that earn nothing, in the order of the sheet."""
        return tuple(fact for fact in sheet.facts if self.credit[verdicts[fact.id]] == 0)


PRESENT_OR_ABSENT = CaptureScale(
    meaning={"present": "present", "partial": "partial", "absent": "absent"},
    credit={"present": 1.0, "partial": 1.0, "absent": 0.0},
)
"""Two-stage pipeline: a «partial» that nobody asked for counts as present and is counted."""

TRICHOTOMY = CaptureScale(
    meaning={"full": "full", "partial": "partial", "absent": "absent"},
    credit={"full": 1.0, "partial": 0.5, "absent": 0.0},
    weights=SEVERITY_WEIGHTS,
)
"""Three-stage pipeline."""

ANSWERED = CaptureScale(
    meaning={"yes": "present", "no": "absent"}, credit={"present": 1.0, "absent": 0.0}
)
"""Checklist: each item answered yes or no."""

PLACED = CaptureScale(
    meaning={"present": "present", "misplaced": "misplaced", "absent": "absent"},
    credit={"present": 1.0, "misplaced": 0.5, "absent": 0.0},
)
"""Per-section coverage: what stands only under another heading is not present."""


@dataclass(frozen=True)
class PerFactRule:
    """Flags a note in which a single fact of a trigger class is absent.

    `triggers` are severities; None takes any fact, graded or not.
    """

    triggers: tuple[str, ...] | None = ("critical",)

    def flags(self, absent: Sequence[Fact]) -> bool:
        """True if one of the `absent` facts triggers."""
        return any(self.triggers is None or fact.severity in self.triggers for fact in absent)


def findings(facts: Sequence[Fact]) -> tuple[ReportedGap, ...]:
    """Facts as a judgement names them, the gravest first: text, severity, transcript's words."""
    order = {severity: place for place, severity in enumerate(SEVERITY_WEIGHTS)}
    graded = sorted(facts, key=lambda fact: order.get(fact.severity, len(order)))
    return tuple(ReportedGap(fact.text, fact.severity, fact.evidence) for fact in graded)
