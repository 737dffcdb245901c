import pytest

from heldout.students.designs.facts import WINDOW, NoteLeaked, assert_blind, windows

NOTE = " ".join(f"word{n}" for n in range(200))


@pytest.mark.parametrize("place", [slice(0, 150), slice(-150, None), slice(520, 900)])
def test_start_middle_and_end_are_found_whatever_case_and_space(place):
    leaked = NOTE[place].upper().replace(" ", "\n   ")
    with pytest.raises(NoteLeaked, match=r"made\|c00"):
        assert_blind(f"Facts:\n{leaked}\nEnd", [NOTE], "made|c00", "extract")


def test_other_words_pass():
    assert_blind("A transcript about something else", [NOTE, ""], "made|c00", "extract")


def test_every_note_is_looked_for():
    with pytest.raises(NoteLeaked):
        assert_blind(NOTE, ["another note", NOTE], "made|c00", "extract")


def test_windows_are_as_long_as_declared():
    assert [len(window) for window in windows(NOTE)] == [WINDOW] * 3
    assert windows("  A short\nnote ") == ("a short note",)
    assert windows(" ") == ()
