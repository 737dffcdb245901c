"""The effect sizes of the simulation, all of them.

Fixed in a commit of its own from judgings of single blocks, corrected once after trial runs and
standing since; a test pins its hash. `docs/simulation.md` says what was corrected and why, and
where the table departs from the prototype.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout.splits.errors import BadInput

EFFECT_PARAMETER = "effect"
"""Name of the model parameter that scales the effects: 0, 0.5, 1 (default) or 2."""


@dataclass(frozen=True)
class Prices:
    """What a piece of work costs, in tokens of the reply (`Budget.max_tokens`).

    A judge with an inventory lists every fact before it checks the first one: a budget that ends
    inside the list buys no check.
    """

    base: int = 150
    """Preamble, assessment and the answer itself."""
    listing: int = 18
    """Writing one fact down."""
    checking: int = 12
    """Looking one listed fact up in the note."""
    attribute: int = 3
    """Each attribute skill (values, paraphrase, partial, placement, polarity), a checked fact."""
    statement: int = 8
    """Holding one statement of the note against the transcript."""
    verdict: int = 16
    """One keyed verdict of the per-fact checker, skills apart."""


@dataclass(frozen=True)
class Effects:
    """The table. Shares are in [0, 1], points are points of the score from 0 to 10."""

    prices: Prices = Prices()

    glance_share: float = 0.2
    """Part of the room that goes to the note's statements when an inventory takes the rest."""
    effort: Mapping[str, float] = field(
        default_factory=lambda: {
            "none": 1.0,
            "minimal": 0.95,
            "low": 0.9,
            "medium": 0.75,
            "high": 0.6,
        }
    )
    """Price factor of a reasoning effort: reasoning is terser than a written working."""

    salient_mentions: int = 4
    """A judge without an inventory misses only what was said at least so often, …"""
    salient_facts: int = 2
    """… and thinks of at most so many facts by itself."""

    browsed_facts: int = 4
    """Of a list of facts in the prompt, so many are looked up by a judge that was not asked to go
    through it."""

    step: float = 0.5
    """Scores come in such steps, …"""
    fine_step: float = 0.1
    """… or in these where the block asks for a decimal."""
    coverage_points: float = 7.0
    """Points between a note that holds every checked fact and one that holds none."""
    salient_points: float = 0.5
    """Points off for a salient fact that is missing."""
    finding_points: float = 0.5
    """Points off for a statement without support or against the transcript."""
    most_findings: int = 6
    """Findings beyond these cost nothing, …"""
    most_findings_asked: int = 12
    """… or beyond these where the block asks to look for statements without support."""

    fragment_credit: float = 0.5
    """Credit for a mention that lost a detail, to a judge that is strict about fragments."""
    elsewhere_credit: float = 0.5
    """Credit for a mention outside the fact's section, to a judge that minds placement."""
    mentions_to_contradict: int = 2
    """How often the transcript must say a thing before a judge that was not asked to compare
    negatives notices that the note says the opposite."""

    reach: Mapping[str, float] = field(
        default_factory=lambda: {
            "inventory": 1.0,
            "fine_score": 1.0,
            "values": 0.85,
            "paraphrase": 0.95,
            "partial": 0.7,
            "placement": 0.35,
            "polarity": 0.85,
            "unsupported": 1.0,
        }
    )
    """Share of facts (of statements, of consultations) that a skill takes hold of in a short
    block."""
    unasked_tolerance: float = 0.75
    """Share of facts that are recognised in other words by a judge that was not asked to."""
    notice: float = 0.9
    """Share of the statements without support that are noticed by a judge that was not asked to
    look for them."""
    dilution_from: int = 160
    """Words of a block from which on skills reach fewer facts."""
    dilution_per_word: float = 0.002
    """Part of its reach that a skill loses with every further word, at most …"""
    most_dilution: float = 0.6
    """… this part of it."""

    lapse: float = 0.003
    """Chance a fact or statement, times temperature, of seeing what is not there or the reverse."""

    placebo_centre: float = 6.5
    """The placebo's score of a note of 150 words, noise apart."""
    placebo_slope: float = 2.0
    """Points by which it grows when a note is e times as long."""
    placebo_spread: float = 0.35
    """Standard deviation of the placebo's noise, in points."""


EFFECTS = Effects()


@dataclass(frozen=True)
class Scale:
    """What a factor does to the table.

    0: skills do nothing, every block is read as a plain one. Otherwise it multiplies the share of
    facts that a skill reaches, up to all of them; beyond 1 it also divides the price of working
    through a fact, since the inventory cannot reach more than every fact.
    """

    factor: float = 1.0

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Scale:
        """The scale a model pin asks for; raises BadInput for anything but a number from 0 to 4."""
        value = parameters.get(EFFECT_PARAMETER, 1.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 4:
            raise BadInput.one(
                f"parameters.{EFFECT_PARAMETER}", f"{value!r} is not a number from 0 to 4"
            )
        return cls(float(value))

    @property
    def price(self) -> float:
        """Factor on the price of a fact."""
        return 1.0 / max(1.0, self.factor)
