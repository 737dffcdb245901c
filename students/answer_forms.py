"""Further forms of one answer: yes or no, a verdict line, a score with a list of gaps.

As in `contracts`, a parser gives a value or a `Violation` and never raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from heldout.students.contracts import (
    MAX_SCORE,
    Answer,
    ScoreContract,
    Violation,
    ViolationKind,
    last_with,
    read_assessment,
)
from heldout.students.replies import ReplyObject, plain
from heldout.students.student import ReportedGap

SEVERITIES = ("critical", "supporting", "peripheral")
VERDICT_LINE = re.compile(
    r"^[ \t*_#>`]*verdict[^\w\n]*(pass|fail)[ \t\r*_`.]*$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True)
class YesNoContract:
    """`{"assessment": text, "answer": "yes" | "no"}`: yes is encoded 10, no 0."""

    @property
    def score_range(self) -> tuple[float, float]:
        """The encoding's ends, those of the scored answer."""
        return (0.0, MAX_SCORE)

    def parse(self, text: str) -> Answer | Violation:
        """The answer of the last object that has one."""
        found = last_with(text, "answer")
        if isinstance(found, Violation):
            return found
        word = found["answer"]
        word = word.strip().casefold() if isinstance(word, str) else ""
        if word not in ("yes", "no"):
            return Violation(ViolationKind.WRONG_TYPE, '"answer" must be "yes" or "no"')
        return Answer(MAX_SCORE if word == "yes" else 0.0, read_assessment(found))


@dataclass(frozen=True)
class VerdictLineContract:
    """Prose that ends in a line `VERDICT: PASS` or `VERDICT: FAIL`, encoded 1 and 0."""

    @property
    def score_range(self) -> tuple[float, float]:
        """Fail and pass."""
        return (0.0, 1.0)

    def parse(self, text: str) -> Answer | Violation:
        """The last verdict line; nothing else of the text decides."""
        lines = list(VERDICT_LINE.finditer(text))
        if not lines:
            return Violation(
                ViolationKind.NO_OBJECT,
                'the reply has no line "VERDICT: PASS" or "VERDICT: FAIL" of its own',
            )
        passed = lines[-1].group(1).casefold() == "pass"
        return Answer(1.0 if passed else 0.0, plain(text[: lines[-1].start()]))


@dataclass(frozen=True)
class GapListContract:
    """`{"missing": [{"item": text, "severity": word}, …], "score": 0..10}`."""

    @property
    def score_range(self) -> tuple[float, float]:
        """That of the score."""
        return (0.0, MAX_SCORE)

    def parse(self, text: str) -> Answer | Violation:
        """Score and list, both required; the list may be empty."""
        scored = ScoreContract().parse(text)
        found = last_with(text, "score")
        if isinstance(scored, Violation) or isinstance(found, Violation):
            return scored
        entries = found.get("missing")
        if not isinstance(entries, list) or "missing" in found.conflicts:
            return Violation(ViolationKind.WRONG_TYPE, '"missing" must be a list, empty if need be')
        findings = [_finding(entry) for entry in entries]
        named = tuple(finding for finding in findings if finding is not None)
        if len(named) < len(entries):
            return Violation(
                ViolationKind.WRONG_TYPE,
                'every entry of "missing" needs an "item" and a "severity" out of '
                + ", ".join(SEVERITIES),
            )
        return Answer(scored.score, _listed(named), named)


def _finding(entry: Any) -> ReportedGap | None:
    """One listed gap, or None where it cannot be read."""
    if not isinstance(entry, ReplyObject) or entry.conflicts & {"item", "severity"}:
        return None
    item, severity = entry.get("item"), entry.get("severity")
    if not isinstance(item, str) or not isinstance(severity, str) or not plain(item):
        return None
    grade = severity.strip().casefold()
    return ReportedGap(plain(item), grade) if grade in SEVERITIES else None


def _listed(findings: tuple[ReportedGap, ...]) -> str:
    """The list in words."""
    if not findings:
        return "nothing missing"
    return "missing: " + "; ".join(f"{f.text} ({f.severity})" for f in findings)
