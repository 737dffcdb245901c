from hypothesis import given
from hypothesis import strategies as st

from heldout.reflectors.evidence import MAX_SPAN, clip, closest, edited_passages, evidence_turn

texts = st.text(st.sampled_from("ab .\n"), max_size=60)


def test_the_edit_stands_in_both_passages():
    passages = edited_passages(
        "A cough. Takes 5 mg daily.", "A cough. Takes 50 mg daily.", margin=8
    )
    assert passages.clean == "Takes 5 mg"
    assert passages.errored == "Takes 50 mg"


def test_without_margin_only_the_edit_is_left():
    assert edited_passages("one two three", "one three", margin=0).clean == "two"
    assert edited_passages("one two three", "one three", margin=0).errored == ""


@given(texts, texts, texts, texts)
def test_any_single_edit_is_found(before, after, old, new):
    passages = edited_passages(before + old + after, before + new + after, margin=1000)
    assert passages.clean.split() == (before + old + after).split()
    assert passages.errored.split() == (before + new + after).split()


def test_a_very_long_edit_is_shown_with_a_mark():
    passages = edited_passages("x", "x" + "y" * 5000)
    assert len(passages.errored) < MAX_SPAN + 400
    assert "[…]" in passages.errored


def test_clip_keeps_to_one_line_and_marks_the_cut():
    assert clip("a\n b\t c", 10) == "a b c"
    assert clip("abcdef", 3) == "abc […]"


def test_the_closest_turn_shares_most_words_and_at_least_two():
    transcript = "[doctor] Any allergies?\n[patient] Penicillin, an allergy since childhood.\n"
    assert evidence_turn("Allergy to penicillin", transcript) == (
        "[patient] Penicillin, an allergy since childhood."
    )
    assert evidence_turn("Sprained ankle", transcript) is None
    assert evidence_turn("Penicillin", transcript) is None


def test_closest_prefers_the_shorter_of_equals_and_knows_when_there_is_none():
    assert closest("dry cough", {"a": "dry cough and much else", "b": "dry cough"}) == "b"
    assert closest("dry cough", {"a": "ankle"}) is None
    assert closest("dry cough", {}) is None
