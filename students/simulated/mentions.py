"""Mentions: a place of a text where a clinical concept stands, with what is said of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from heldout.students.simulated.lexicon import Form, LexiconTerm

WINDOW = 70
"""Characters over which a denial, a number or a side still belongs to a concept."""

Detail = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention of a concept; `start` and `end` are offsets into the text.

    `doubt`: 0 firm, 1 likely, 2 possible. `effect`: 1 it helped, -1 it did not, 0 not said.
    `phase` is what the talk was about (`family`, `safety`, `remedy`, `plan`, `diagnosis`,
    `allergy` or empty). `details` are (kind, value).
    """

    form: Form
    start: int
    end: int
    sentence: int
    negated: bool = False
    doubt: int = 0
    effect: int = 0
    phase: str = ""
    details: frozenset[Detail] = frozenset()

    @property
    def concept(self) -> LexiconTerm:
        """What is mentioned."""
        return self.form.concept

    @property
    def key(self) -> tuple[str, str]:
        """What makes two mentions one fact: the concept and whose or what for it is."""
        group = self.phase if self.phase in ("family", "safety", "remedy") else ""
        return (self.form.concept.name, group)


@dataclass(slots=True)
class Sentence:
    """The words `first` to `last` (excluded) of one sentence and what was found in them."""

    number: int
    first: int
    last: int
    mentions: list[Mention] = field(default_factory=list)
    loose: list[Detail] = field(default_factory=list)
    """Details that belong to no mention of this sentence."""
    family: bool = False
    tried: bool = False
