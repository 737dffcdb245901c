"""From cases to procedures: which topic would have helped, and how strongly the cases say so."""

from __future__ import annotations

import re
from collections.abc import Iterable

from heldout.reflectors.simulated.reading import Case
from heldout.reflectors.simulated.topics import Topic

_VALUE = re.compile(
    r"\d|\b(?:left|right|bilateral|one|two|three|four|five|six|seven|ten|once|twice|daily|weekly"
    r"|hours?|days?|weeks?|months?|years?|mg|mcg|ml|dose|side|frequency|duration)\b",
    re.IGNORECASE,
)
_POLARITY = re.compile(
    r"\b(?:no|not|nil|none|never|denie[sd]|denying|negative|without|possible|possibly|probable|likely"
    r"|suspected|unlikely|might|may|polarity|certain|confirmed|absent)\b",
    re.IGNORECASE,
)
_SEVERITY = {"critical": 1.5, "supporting": 1.0, "peripheral": 0.7}
_STILL_FAILING = 0.25
"""Weight of rewording a procedure that the block already asks for."""

_LISTED_FOR_IT = 0.1
"""Weight of what a judge with a given list of facts can hardly use."""


def lessons(
    cases: Iterable[Case], asked: frozenset[Topic], *, per_fact: bool
) -> dict[Topic, float]:
    """Weight of each topic that the failures among `cases` speak for, all above 0."""
    weights: dict[Topic, float] = {}
    for case in cases:
        if not case.failed:
            continue
        factor = _SEVERITY.get(case.severity or "", 1.0)
        for topic, weight in _points_at(case).items():
            weights[topic] = weights.get(topic, 0.0) + factor * weight
    for topic in weights:
        if topic in asked:
            weights[topic] *= _STILL_FAILING
        if per_fact and topic in (Topic.INVENTORY, Topic.FINE_SCORE, Topic.UNSUPPORTED):
            weights[topic] *= _LISTED_FOR_IT
    return dict(sorted(weights.items()))


def _points_at(case: Case) -> dict[Topic, float]:
    found = _omission(case) if case.edit == "removed" else _commission(case)
    if case.tied:
        found[Topic.FINE_SCORE] = 1.0
    if case.above:
        found[Topic.PARAPHRASE] = found.get(Topic.PARAPHRASE, 0.0) + 1.0
    return found


def _omission(case: Case) -> dict[Topic, float]:
    has_value, has_polarity = bool(_VALUE.search(case.fact)), bool(_POLARITY.search(case.fact))
    if case.trace == "partial-strong":
        return {Topic.PLACEMENT: 3.0, Topic.INVENTORY: 1.5}
    if case.trace == "partial-weak":
        values = 2.0 if has_value else 0.5
        return {Topic.PARTIAL: 2.0, Topic.VALUES: values, Topic.INVENTORY: 2.0}
    polarity = 1.0 if has_polarity else 0.2
    return {Topic.INVENTORY: 3.0, Topic.PARAPHRASE: 0.7, Topic.POLARITY: polarity}


def _commission(case: Case) -> dict[Topic, float]:
    if case.edit == "added":
        return {Topic.UNSUPPORTED: 3.0}
    found = {Topic.UNSUPPORTED: 0.5}
    if _VALUE.search(case.fact):
        found[Topic.VALUES] = 2.5
    if _POLARITY.search(case.fact):
        found[Topic.POLARITY] = 2.5
    return found
