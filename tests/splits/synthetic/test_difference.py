"""Two texts differ in one stretch, cut where a reader would cut it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.splits.synthetic.difference import one_difference

texts = st.text(alphabet="ab .\n", max_size=30)


@given(texts, texts)
def test_the_stretch_turns_one_text_into_the_other(first, second):
    difference = one_difference(first, second)
    assert difference.apply(first) == second
    assert first[difference.start : difference.end] == difference.before


@given(texts)
def test_equal_texts_have_an_empty_stretch(text):
    difference = one_difference(text, text)
    assert (difference.before, difference.after) == ("", "")


@pytest.mark.parametrize(
    ("first", "second", "before", "after"),
    [
        ("Denies A. Denies B.", "Denies B.", "Denies A. ", ""),
        ("Denies B.", "Denies A. Denies B.", "", "Denies A. "),
        ("X.\nNo A.\nNo B.\nY.", "X.\nNo B.\nY.", "No A.\n", ""),
        ("Pain on the left.", "Pain on the right.", "left", "right"),
        ("Pain for 3 days.", "Pain.", " for 3 days", ""),
        ("Temp 38.2 C.", "Temp 38.9 C.", "38.2", "38.9"),
    ],
)
def test_the_cut_is_where_a_reader_would_cut(first, second, before, after):
    difference = one_difference(first, second)
    assert (difference.before, difference.after) == (before, after)
