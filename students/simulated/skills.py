"""The closed list of procedures that an instruction block can ask a simulated judge for."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from heldout.students.simulated.clauses import clauses
from heldout.students.simulated.wordings import asks_for


class Skill(StrEnum):
    """One procedure; what it does to a simulated judge stands in `effects`."""

    INVENTORY = "inventory"
    """Enumerate the transcript's facts before checking each against the note."""
    FINE_SCORE = "fine_score"
    """Score with one decimal."""
    VALUES = "values"
    """Compare numbers, doses, durations and sides exactly."""
    PARAPHRASE = "paraphrase"
    """A paraphrase, abbreviation or unit conversion counts as captured."""
    PARTIAL = "partial"
    """A fragment or a mention without its detail is not full capture."""
    PLACEMENT = "placement"
    """A section holds its own facts: a restatement elsewhere does not make up for a gap."""
    POLARITY = "polarity"
    """Compare negatives, denials and degrees of certainty."""
    UNSUPPORTED = "unsupported"
    """Look for statements of the note without support in the transcript."""


@lru_cache(maxsize=4096)
def read_block(block: str) -> frozenset[Skill]:
    """The procedures that `block` asks for.

    Only requests count: an imperative, an obligation («you must», «has to be»), or a rule in the
    present tense («a paraphrase counts as captured»). What is negated, quoted, reported of
    others, merely possible or asked as a question switches nothing on. Of two requests that
    contradict each other the later one holds.
    """
    asked: dict[Skill, bool] = {}
    for clause in clauses(block):
        for skill in Skill:
            answer = asks_for(skill.value, clause)
            if answer is not None:
                asked[skill] = answer
    return frozenset(skill for skill, wanted in asked.items() if wanted)
