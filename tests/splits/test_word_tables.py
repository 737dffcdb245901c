"""Word lists and patterns from a YAML file."""

import re

import pydantic
import pytest

from heldout.splits.word_tables import WordTable

TEXT = r"""
fragments:
  DOSE: |-
    (?:dose
    |{UNIT})
reading: '{DOSE} is \d{1,3}'
long: |-
  a b
  |c
small: >-
  no yes
  n't
sizes: {day: 1, half: 0.5}
nested: {wants: ['{UNIT}s']}
"""


@pytest.fixture
def table(monkeypatch, tmp_path):
    (tmp_path / "words.yaml").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr("heldout.splits.word_tables.resources.files", lambda _: tmp_path)
    return lambda **given: WordTable("any", "words.yaml", **given)


def test_fragments_are_filled_in_and_counts_left_alone(table):
    filled = table(UNIT="mg")
    assert filled.pattern("reading").pattern == r"(?:dose|mg) is \d{1,3}"
    assert filled.pattern("reading", re.I).search("MG IS 12")
    assert filled.read("nested", dict[str, list[str]]) == {"wants": ["mgs"]}
    assert "fragments" not in filled.entries


def test_lines_of_a_pattern_are_joined_and_words_stay_apart(table):
    filled = table(UNIT="mg")
    assert filled.pattern("long").pattern == "a b|c"
    assert filled.words("small") == {"no", "yes", "n't"}


def test_entries_are_read_as_what_they_are_asked_for(table):
    filled = table(UNIT="mg")
    assert filled.read("sizes", dict[str, float]) == {"day": 1.0, "half": 0.5}
    with pytest.raises(pydantic.ValidationError):
        filled.read("sizes", dict[str, int])


def test_a_placeholder_that_nothing_explains_is_refused(table):
    with pytest.raises(KeyError, match="UNIT"):
        table()
