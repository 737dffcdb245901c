"""Figures over the facts of a consultation: capture, and naming the removed fact.

Verdicts are the words of the keyed checkers: `full` or `present`, `partial`, `absent`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))
