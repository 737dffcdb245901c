"""How much a fact matters for care, and which section a clinician would name for it."""

from __future__ import annotations

from heldout.students.simulated.reading import ReadFact

SEVERITIES = ("critical", "supporting", "peripheral")
_CRITICAL_PHASES = frozenset(("safety", "diagnosis", "allergy", "plan"))
_CRITICAL = frozenset(("allergy", "drug", "referral", "trigger"))
_PERIPHERAL = frozenset(("quality", "worry", "activity", "social"))
_HABITS = frozenset(("smoking", "alcohol", "illicit drugs"))

SECTION_NAMES = {
    "history": "history", "background": "history", "family": "history", "medication": "medication",
    "allergies": "allergies", "social": "social", "examination": "examination",
    "impression": "assessment", "plan": "plan",
}  # fmt: skip
"""Section kinds by the names that a placed extraction uses."""


def severity_of(fact: ReadFact) -> str:
    """The grade of leaving `fact` out, by what kind of fact it is."""
    if fact.phase in _CRITICAL_PHASES or fact.category in _CRITICAL:
        return "critical"
    if fact.category in _PERIPHERAL and fact.name not in _HABITS:
        return "peripheral"
    return "supporting"
