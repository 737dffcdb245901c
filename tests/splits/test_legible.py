import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.splits.legible import as_latin, forms, visible


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Ｊｏｈｎ", "John"),
        ("Jo\u00adhn Smi\u200bth", "John Smith"),
        ("J\u0336o\u0336hn", "John"),
        ("José Ångström", "Jose Angstrom"),
        ("ﬁne 𝐉𝐨𝐡𝐧", "fine John"),
        ("٣٤ ۵ ９", "34 5 9"),
        ("a\u202eb\x00c\n", "abc\n"),
        ("한국 が", "한국 か"),
    ],
)
def test_what_cannot_be_seen_is_dropped_and_one_spelling_is_left(typed, read):
    assert visible(typed) == read


@pytest.mark.parametrize(
    "typed", ["Jоhn", "Јоhn", "Jοhn", "Jⲟhn", "Jօhn", "Jᴏhn", "ЈоHn", "Jo\u2060hn"]
)
def test_letters_that_look_alike_are_read_alike(typed):
    assert any(form.casefold() == "john" for form in forms(typed))
    assert as_latin(typed).casefold() == "john"


@pytest.mark.parametrize("typed", ["ســعال", "سعـال", "سعالـ", "ـسعال", "سـعـا\u200dـل"])
def test_lines_that_are_lengthened_between_letters_are_no_letters(typed):
    assert visible(typed) == "سعال"


def test_genuine_letters_of_another_script_are_kept_beside():
    assert forms("Нос")[0] == "Нос"
    assert "hoc" in [form.casefold() for form in forms("Нос")]


def test_invisible_characters_may_stand_for_gaps():
    assert forms("chest\u200bpain") == ("chestpain", "chest pain")


@given(st.text())
def test_reading_is_settled_after_once_and_never_fails(text):
    for form in forms(text):
        assert visible(form) == form
    assert as_latin(as_latin(text)) == as_latin(text)
