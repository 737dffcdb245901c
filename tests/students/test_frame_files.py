import pytest

from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_text
from heldout.students.frame_files import load_frame_file
from heldout.students.frames import load_frame

LIKE = load_frame("whole_note")
GOOD = "T {{transcript}}\r\nN {{note}}\nB {{block}} end"


def written(folder, text):
    path = folder / "mine.txt"
    path.write_bytes(text.encode("utf-8"))
    return path


def test_a_pinned_file_is_a_frame_to_the_byte(tmp_path):
    frame = load_frame_file(written(tmp_path, GOOD), sha256_text(GOOD), LIKE)
    assert frame.template == GOOD
    assert frame.name == "mine"
    assert frame.render({"transcript": "t", "note": "n", "block": "b"}) == "T t\r\nN n\nB b end"


def test_another_text_than_the_one_pinned_is_refused_by_name(tmp_path):
    path = written(tmp_path, GOOD + " ")
    with pytest.raises(BadInput, match=r"mine\.txt: its SHA-256 is"):
        load_frame_file(path, sha256_text(GOOD), LIKE)


@pytest.mark.parametrize(
    "text",
    [
        "no slots",
        "{{note}} {{transcript}} {{block}}",
        "{{transcript}} {{note}}",
        "{{transcript}} {{note}} {{block}} {{block}}",
        "{{transcript}} {{facts}} {{note}} {{block}}",
    ],
)
def test_slots_must_be_those_of_the_design(tmp_path, text):
    with pytest.raises(BadInput, match="in this order"):
        load_frame_file(written(tmp_path, text), sha256_text(text), LIKE)


def test_what_cannot_be_read_is_a_fault(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        load_frame_file(tmp_path / "absent.txt", "", LIKE)
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"\xff\xfe{{note}}")
    with pytest.raises(BadInput, match="cannot be read"):
        load_frame_file(binary, "", LIKE)
