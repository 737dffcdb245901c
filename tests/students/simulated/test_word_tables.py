"""The word tables of the simulated models: whole, and used to the last entry."""

from importlib import resources

import pytest
from tests.support.word_tables import faults

from heldout.splits.loading.yaml_file import read_yaml
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


@pytest.mark.parametrize("folder", ["heldout.students.simulated", "heldout.reflectors.simulated"])
def test_no_key_is_given_twice(folder):
    files = [file for file in resources.files(folder).iterdir() if file.suffix == ".yaml"]
    assert files
    for file in files:
        with resources.as_file(file) as path:
            read_yaml(path)  # the strict reader raises for a key taken twice
