"""Figures over the facts of a consultation: capture, the per-fact rule, naming the removed fact.

Verdicts are the words of the keyed checkers: `full` or `present`, `partial`, `absent`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from heldout.splits.benchmark import Severity

CAPTURE = {"full": 1.0, "present": 1.0, "partial": 0.5, "absent": 0.0}
WEIGHTS: Mapping[Severity, int] = {
    Severity.CRITICAL: 4,
    Severity.SUPPORTING: 2,
    Severity.PERIPHERAL: 1,
}
NAMING_LEVELS = (0.3, 0.4, 0.5)
"""Containment at which a flag counts as naming the fact; all three are reported."""

Verdicts = Mapping[str, str]
"""Fact id to verdict."""


def coverage(verdicts: Verdicts) -> float | None:
    """Share of facts present, a partial one counted as present; None without facts.

    The figure of the two-stage pipeline, whose checker is asked for present or absent only.
    """
    credits = [_capture(word) > 0 for word in verdicts.values()]
    return sum(credits) / len(credits) if credits else None


def weighted_capture(
    verdicts: Verdicts, severities: Mapping[str, Severity] | None = None
) -> float | None:
    """Capture with full 1, partial 0.5, absent 0, weighted 4, 2, 1 by severity of the fact.

    Without `severities` every fact weighs the same. In [0, 1]; None without facts. Raises KeyError
    for a fact without a severity.
    """
    weights = {fact: WEIGHTS[severities[fact]] if severities else 1 for fact in verdicts}
    total = sum(weights.values())
    if not total:
        return None
    return sum(weights[fact] * _capture(word) for fact, word in verdicts.items()) / total


def per_fact_flag(
    verdicts: Verdicts,
    severities: Mapping[str, Severity],
    *,
    grades: frozenset[Severity] = frozenset({Severity.CRITICAL}),
) -> bool:
    """The per-fact rule: flag when a fact of one of `grades` is absent."""
    return any(word == "absent" and severities[fact] in grades for fact, word in verdicts.items())


@dataclass(frozen=True, slots=True)
class FactGrades:
    """A grader's counts over one inventory in one run: facts graded yes, partial, no."""

    yes: int
    partial: int
    no: int

    @property
    def facts(self) -> int:
        """Facts graded."""
        return self.yes + self.partial + self.no


def facts_captured(runs: Sequence[FactGrades]) -> int | None:
    """100 (yes + partial / 2) / facts, averaged over runs, then rounded half up.

    Runs without facts are left out; None where none is left.
    """
    return _averaged(
        [Fraction(100 * (2 * r.yes + r.partial), 2 * r.facts) for r in runs if r.facts]
    )


def facts_missed(runs: Sequence[FactGrades]) -> int | None:
    """100 no / facts, averaged over runs, then rounded half up; partial facts are not missed."""
    return _averaged([Fraction(100 * r.no, r.facts) for r in runs if r.facts])


def containment(first: str, second: str) -> float:
    """Share of the distinct words of the text with fewer of them that the other holds, in [0, 1].

    Words are runs of letters and digits in lower case; a text without words is contained nowhere.
    """
    words = sorted((_words(first), _words(second)), key=len)
    return len(words[0] & words[1]) / len(words[0]) if words[0] else 0.0


def names_the_fact(reports: Sequence[str], fact: str, level: float) -> bool:
    """True if one of a judge's reported omissions names `fact` at containment `level` or more."""
    return any(containment(report, fact) >= level - 1e-12 for report in reports)


def _capture(word: str) -> float:
    if word not in CAPTURE:
        raise ValueError(f"verdict {word!r} is none of {', '.join(CAPTURE)}")
    return CAPTURE[word]


def _averaged(shares: Sequence[Fraction]) -> int | None:
    if not shares:
        return None
    return int(sum(shares, Fraction(0)) / len(shares) + Fraction(1, 2))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))
