"""The closed list of procedures that a block can ask a simulated judge for, and how it asks.

`skills.yaml` holds patterns over the verb and the object of a clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from heldout.splits.word_tables import WordTable
from heldout.students.simulated.clauses import Clause, clauses


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


@dataclass(frozen=True, slots=True)
class Wording:
    """Patterns of one procedure, matched from the verb (or the subject of a rule) on.

    `wants` are orders that want it when affirmed, `forbids` orders that want it when forbidden («do
    not accept a fragment»); `rules` lay it down as a standing rule, `against` rule it out. Where
    `never` is found, the clause is about something else.
    """

    wants: tuple[re.Pattern[str], ...]
    forbids: tuple[re.Pattern[str], ...] = ()
    rules: tuple[re.Pattern[str], ...] = ()
    against: tuple[re.Pattern[str], ...] = ()
    ensures: tuple[re.Pattern[str], ...] = ()
    never: re.Pattern[str] | None = None


TABLE = WordTable("heldout.students.simulated", "skills.yaml")
WORDINGS = TABLE.read("wordings", dict[str, Wording])
_REPORTED = TABLE.pattern("reported")
_NONE_OF = TABLE.pattern("none_of")


def asks_for(skill: str, clause: Clause) -> bool | None:
    """True if `clause` asks for `skill`, False if it rules it out, None if it is silent."""
    wording = WORDINGS[skill]
    text = clause.text
    if wording.never is not None and wording.never.search(text):
        return None
    if clause.asks:
        negated = clause.negated != bool(_NONE_OF.match(text))
        if any(pattern.match(text) for pattern in (*wording.wants, *wording.ensures)):
            return not negated
        if any(pattern.match(text) for pattern in wording.forbids):
            return negated
    if clause.negated or (not clause.asks and _REPORTED.search(text)):
        return None
    if any(pattern.match(text) for pattern in wording.against):
        return False
    return True if any(pattern.match(text) for pattern in wording.rules) else None


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
