import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from heldout.splits.visible import json_text, visible, visible_in

ACTING = "\x1b\x00\x07\x08\x7f\x85\x9b\r\u202e\u2066\u200b\u200e\u2028\ufeff\U000e0041\ud800"
TEXT = st.text(st.one_of(st.characters(), st.sampled_from(ACTING)))


def acts(text: str) -> list[str]:
    """Signs that move a cursor, reorder or hide text; line ends and tabs may stand."""
    kinds = {"Cc", "Cs", "Zl", "Zp"}
    marks = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\ufeff")
    plain = text.replace("\r\n", "\n")
    return [
        sign
        for sign in plain
        if (unicodedata.category(sign) in kinds and sign not in "\n\t") or sign in marks
    ]


@given(TEXT)
def test_nothing_that_is_shown_acts_on_a_terminal(text):
    assert not acts(visible(text))
    assert not acts(visible_in({"a": [text], text: None})["a"][0])


@given(TEXT)
def test_json_for_a_terminal_loses_nothing_and_acts_on_none(text):
    shown = json_text({"text": text})
    assert not acts(shown)
    assert json.loads(shown) == {"text": text}
    assert json.loads(json_text([text], ascii_only=True)) == [text]


def test_letters_of_every_script_stay_as_they_are():
    text = "Ça va – 北京 🩺 שלום مرحبا ह\u200dि\tb\r\nc"
    assert visible(text) == text
