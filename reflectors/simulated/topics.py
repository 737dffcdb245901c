"""Topics of the simulated reflector: what a sentence is about, what cases speak for, how to ask.

The reflector has its own understanding of instructions, by cue words; it never asks the simulated
judge what that one makes of a block. Where the two disagree the reflector errs, as a model would.

`topics.yaml` holds the cues and, for each topic, several constructions, each with choices: `[a|b]`
stands for one of its parts, which may be empty. The parts are drawn independently, so a topic has
hundreds of wordings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from heldout.reflectors.simulated.reading import Case
from heldout.splits.randomness import Part, choice
from heldout.splits.word_tables import WordTable


class Topic(StrEnum):
    """A procedure that a sentence can ask for."""

    INVENTORY = "inventory"
    FINE_SCORE = "fine_score"
    VALUES = "values"
    PARAPHRASE = "paraphrase"
    PARTIAL = "partial"
    PLACEMENT = "placement"
    POLARITY = "polarity"
    UNSUPPORTED = "unsupported"


TABLE = WordTable("heldout.reflectors.simulated", "topics.yaml")
_PATTERNS = {
    Topic(name): re.compile(cue, re.IGNORECASE)
    for name, cue in TABLE.read("cues", dict[str, str]).items()
}
_FORBIDS = TABLE.pattern("forbids", re.IGNORECASE)
_FINE = TABLE.pattern("fine", re.IGNORECASE)
_WORTHLESS_FORBIDDEN = frozenset({Topic.INVENTORY, Topic.VALUES, Topic.POLARITY, Topic.UNSUPPORTED})
_VALUE = TABLE.pattern("value", re.IGNORECASE)
_POLARITY = TABLE.pattern("polarity", re.IGNORECASE)
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_PHRASES = TABLE.read("phrases", dict[Topic, tuple[str, ...]])
_FILLERS = TABLE.read("fillers", tuple[str, ...])
_SEVERITY = {"critical": 1.5, "supporting": 1.0, "peripheral": 0.7}
_STILL_FAILING = 0.25
"""Weight of rewording a procedure that the block already asks for."""

_LISTED_FOR_IT = 0.1
"""Weight of what a judge with a given list of facts can hardly use."""


def topics(sentence: str) -> frozenset[Topic]:
    """The procedures `sentence` is about, whether it asks for them or forbids them."""
    return frozenset(topic for topic, cue in _PATTERNS.items() if cue.search(sentence))


def asked(sentence: str) -> frozenset[Topic]:
    """The procedures `sentence` asks for.

    «Do not list the facts» asks for no inventory; «do not accept a fragment» does ask for
    strictness about fragments.
    """
    about = topics(sentence)
    if _FORBIDS.match(sentence.strip()):
        about -= _WORTHLESS_FORBIDDEN
    if not _FINE.search(sentence):
        about -= {Topic.FINE_SCORE}
    return about


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


def compose(pattern: str, *path: Part) -> str:
    """One wording of `pattern`, its parts drawn from `path`."""
    parts = iter(range(pattern.count("[")))
    text = _CHOICE.sub(lambda match: choice(match.group(1).split("|"), *path, next(parts)), pattern)
    return " ".join(text.split()).replace(" ,", ",").replace(" .", ".")


def sentence(topic: Topic, *path: Part) -> str:
    """A sentence that asks for `topic`, composed from `path`."""
    return compose(choice(_PHRASES[topic], *path, "pattern"), *path)


def filler(*path: Part) -> str:
    """A sentence that asks for nothing in particular."""
    return compose(choice(_FILLERS, *path, "pattern"), *path)
