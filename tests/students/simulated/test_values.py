"""Numbers as people say and write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.students.simulated.values import values_in
from heldout.students.simulated.words import stem, words_of


def read(text):
    return [(value.kind, value.text) for value in values_in(words_of(text).stems)]


SAME = [
    ("duration", "3", ["for three days", "3 days", "3/7", "for 3/7"]),
    ("duration", "14", ["a fortnight", "two weeks", "2/52", "a couple of weeks", "14 days"]),
    ("duration", "60", ["two months", "2/12", "a couple of months"]),
    ("duration", "730", ["two years", "2 yrs"]),
    ("mg", "250", ["two hundred and fifty milligrams", "250 mg", "250mg"]),
    ("mg", "2.5", ["two and a half milligrams", "2.5mg"]),
    ("mg", "1000", ["one gram", "a gram", "1 g", "1g"]),
    ("mg", "0.025", ["twenty-five micrograms", "25 mcg"]),
    ("mg", "100", ["a hundred milligrams", "one hundred milligrams"]),
    ("frequency", "2", ["twice a day", "BD", "two times a day", "morning and evening"]),
    ("frequency", "4", ["every six hours", "QDS", "four times daily"]),
    ("frequency", "15", ["fifteen a day", "15/day", "15 cigarettes a day"]),
    ("score", "7/10", ["seven out of ten", "7/10", "about a seven"]),
    ("pressure", "118/76", ["118 over 76", "118/76"]),
    ("percent", "92", ["92 percent", "92%"]),
    ("degree", "38.2", ["38.2 degrees", "38.2 C", "38.2"]),
    ("unit", "8", ["eight units a week", "8 units/week", "8 units weekly"]),
    ("puff", "2", ["two puffs", "2 puffs"]),
]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [(kind, value, text) for kind, value, texts in SAME for text in texts],
)
def test_one_value_in_many_forms(kind, value, text):
    assert (kind, value) in read(text)


@pytest.mark.parametrize(
    "text", ["", "a pain in the neck", "daily", "and over", "half", "every", "a"]
)
def test_words_that_are_no_value(text):
    assert read(text) == []


@given(st.text())
def test_any_text_is_taken_apart_without_error(text):
    words = words_of(text)
    values_in(words.stems)
    assert len(words.starts) == len(words.ends) == len(words.sentence) == len(words)
    assert all(0 <= a < b <= len(text) for a, b in zip(words.starts, words.ends, strict=True))


@given(st.lists(st.from_regex(r"\d[\d.,/%²٣]{0,6}", fullmatch=True), min_size=1, max_size=3))
def test_any_figure_is_a_number_or_none(stems):
    values_in([*stems, "mg"])


@pytest.mark.parametrize("figure", ["0.3.285", "1..2", "12.3.61", "1e999"])
def test_what_only_looks_like_a_number_is_none(figure):
    assert values_in([figure, "mg"]) == []


def test_places_point_into_the_text():
    words = words_of("Crohn’s, A&E; 3.5 mg\nfollow-up")
    assert words.stems == ["crohn", "a&e", "3.5", "mg", "follow", "up"]
    assert words.sentence == [0, 0, 1, 1, 2, 2]
    assert words.text[words.starts[2] : words.ends[2]] == "3.5"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("pains", "pain"),
        ("allergies", "allergy"),
        ("loss", "loss"),
        ("virus", "virus"),
        ("is", "is"),
    ],
)
def test_stems(word, expected):
    assert stem(word) == expected
