"""The chained file: every line bound to the one before, written whole or not at all."""

import errno
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.splits import chain
from heldout.splits.chain import ChainedLine, ChainFile, LineChanged
from heldout.splits.errors import JournalBroken
from heldout.splits.hashing import canonical_json, sha256_json


class Words:
    """A line that holds one text."""

    noun, origin = "word", "the start"

    def __init__(self, first=0, genesis="g", completes=False):
        self.first, self.genesis, self.completes = first, genesis, completes

    def parse(self, raw):
        number, previous, text, own = json.loads(raw)
        if own != sha256_json([number, previous, text]):
            raise LineChanged
        return ChainedLine(number, previous, own, text)

    def compose(self, number, previous, content):
        own = sha256_json([number, previous, content])
        raw = canonical_json([number, previous, content, own]).encode() + b"\n"
        return raw, ChainedLine(number, previous, own, content)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.jsonl"


def written(path, *texts, layout=None):
    file = ChainFile(path, layout or Words())
    found = file.open()
    for text in texts:
        assert file.append(text) == text
    file.close()
    return found


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_what_was_appended_is_read_in_its_order(tmp_path_factory, texts, first):
    path, layout = tmp_path_factory.mktemp("chain") / "words.jsonl", Words(first)
    assert written(path, *texts, layout=layout) == []
    assert ChainFile(path, layout).read() == texts
    assert written(path, "more", layout=layout) == texts
    assert ChainFile(path, layout).read() == [*texts, "more"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda x: [x[0], x[1].replace(b"b", b"B"), x[2]], "line 2: was changed after it was"),
        (lambda x: [x[0], x[2]], "line 2: does not follow from the line before"),
        (lambda x: [x[1], x[0], x[2]], "line 1: does not follow from the start"),
        (lambda x: [x[0], b"\n", x[1]], "line 2: not a word: Expecting value"),
        (lambda x: [x[0], b"[1]\n", x[1]], "line 2: not a word: not enough values"),
        (lambda x: [*x, b"\xff\n"], "line 4: not a word"),
    ],
)
def test_the_first_bad_line_is_named(path, change, expected):
    written(path, "a", "b", "c")
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    for use in (ChainFile(path, Words()).read, ChainFile(path, Words()).open):
        with pytest.raises(JournalBroken, match=expected):
            use()


@pytest.mark.parametrize("completes", [False, True])
def test_a_torn_last_line_is_left_out_and_cut_off(path, completes):
    layout = Words(completes=completes)
    written(path, "a", "b")
    whole = path.read_bytes()
    for cut in range(len(whole) // 2, len(whole)):
        path.write_bytes(whole[:cut])
        # Whole but for its line end, a line counts only where the format says so.
        kept = ["a", "b"] if completes and cut == len(whole) - 1 else ["a"]
        assert ChainFile(path, layout).read() == kept
        assert written(path, "c", layout=layout) == kept
        assert ChainFile(path, layout).read() == [*kept, "c"]


def test_a_full_disk_leaves_the_file_as_it_was(path, monkeypatch):
    written(path, "a")
    before, write = path.read_bytes(), os.write

    def full(handle, data):
        if len(data) > 5:
            return write(handle, data[:5])  # a part gets through, then nothing
        raise OSError(errno.ENOSPC, "No space left on device")

    file = ChainFile(path, Words())
    file.open()
    with monkeypatch.context() as patch:
        patch.setattr(chain.os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            file.append("b")
    assert path.read_bytes() == before
    file.append("c")  # the disk has room again
    file.close()
    assert ChainFile(path, Words()).read() == ["a", "c"]


def test_a_write_in_pieces_is_one_line(path, monkeypatch):
    write = os.write
    monkeypatch.setattr(chain.os, "write", lambda handle, data: write(handle, data[:3]))
    written(path, "a", "b")
    assert ChainFile(path, Words()).read() == ["a", "b"]


def test_lines_that_may_wait_are_synced_with_the_next_that_may_not(path, monkeypatch):
    file = ChainFile(path, Words())
    file.open()
    synced, fsync = [], os.fsync
    monkeypatch.setattr(chain.os, "fsync", lambda handle: (synced.append(handle), fsync(handle)))
    file.append("a", durable=False)
    assert synced == []
    file.append("b")
    assert len(synced) == 1
    file.close()


def test_a_closed_file_takes_nothing(path):
    file = ChainFile(path, Words())
    with pytest.raises(ValueError, match="is not open"):
        file.append("a")
    file.open()
    file.close()
    file.close()
    with pytest.raises(ValueError, match="is not open"):
        file.append("a")
