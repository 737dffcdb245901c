"""The word tables of the simulated judge: whole, and used to the last entry."""

import pytest
from tests.support.word_tables import faults

from heldout.students.simulated import clauses, heads, lexicon, skills

TABLES = {
    "clauses": clauses.TABLE,
    "heads": heads.TABLE,
    "skills": skills.TABLE,
    "words": lexicon.WORDS,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_entry_is_used_and_every_pattern_compiles(name):
    assert faults(TABLES[name], "heldout.students.simulated") == []


def test_every_procedure_has_its_wordings():
    assert set(skills.WORDINGS) == set(skills.Skill)
    assert all(wording.wants for wording in skills.WORDINGS.values())
