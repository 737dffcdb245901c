"""What a sentence of a block is about, as the simulated reflector understands it.

The reflector has its own understanding of instructions, by cue words; it never asks the simulated
judge what that one makes of a block. Where the two disagree the reflector errs, as a model would.
"""

from __future__ import annotations

import re
from enum import StrEnum


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


_CUES = {
    Topic.INVENTORY: (
        r"\binventor|\benumerat|\bcatalog|\bchecklist|\bitemi[sz]"
        r"|\b(?:list(?:ing)?|write down|set down|note down|number)\b"
        r".{0,40}\b(?:all|everything|facts?|findings?|points?|items?|statements?)\b"
    ),
    Topic.FINE_SCORE: r"\bdecimal|\btenths?\b|\bfractional|\bwhole (?:point|number)",
    Topic.VALUES: (
        r"\bdos(?:e|es|age)\b|\bdurations?\b|\bfigures?\b|\bnumbers\b|\b(?:every|each) number\b"
        r"|\bnumeric|\bquantit"
    ),
    Topic.PARAPHRASE: (
        r"\bparaphras|\bsynonym|\babbreviat|\bother words|\bdifferent words|\breword"
        r"|\bsame meaning|\bconverted\b"
    ),
    Topic.PARTIAL: (
        r"\bfragment|\bpartial|\bhalf (?:the )?credit|\bincomplete|\bwithout its details?"
        r"|\bonly part of\b|\bnot fully captured|\bbare mention|\bpassing mention"
        r"|\blost (?:its|a|part)\b"
    ),
    Topic.PLACEMENT: r"\bsections?\b|\belsewhere|\bheadings?\b|\brestate|\bwhere it belongs",
    Topic.POLARITY: (
        r"\bnegativ|\bnegat(?:ion|ed)|\bdenial|\bdenie[ds]|\bcertaint|\bhedge|\bsuspected"
    ),
    Topic.UNSUPPORTED: (
        r"\bunsupported|\bsupport\b|\bnever said|\binvent(?:ed|ion)|\bmade[- ]up|\bno basis"
        r"|\bfabricat|\bnobody said|\bnot said"
    ),
}
_PATTERNS = {topic: re.compile(cue, re.IGNORECASE) for topic, cue in _CUES.items()}
_FORBIDS = re.compile(
    r"^(?:please )?(?:do not|don't|never|avoid|there is no need|no need|without|instead of)\b",
    re.IGNORECASE,
)
_WORTHLESS_FORBIDDEN = frozenset({Topic.INVENTORY, Topic.VALUES, Topic.POLARITY, Topic.UNSUPPORTED})
_FINE = re.compile(r"\bdecimal|\btenths?\b|\bfractional", re.IGNORECASE)


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
