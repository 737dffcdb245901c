"""Escaping and showing: whatever the text, it stays text."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.pages import Page

from heldout.experiments.report.render import embedded_json, page
from heldout.experiments.report.text import (
    TextPolicy,
    fenced,
    markdown,
    marked,
    one_line,
    word_diff,
)
from heldout.splits.visible import visible

TEXT = st.text() | st.sampled_from(
    [
        "</script><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "```\n# no",
        "\u202eabc",
    ]
)


@given(TEXT, TEXT)
def test_a_difference_holds_both_texts_letter_for_letter(old, new):
    pieces = word_diff(old, new)
    assert "".join(p.text for p in pieces if p.change != "added") == old
    assert "".join(p.text for p in pieces if p.change != "removed") == new
    assert all(p.text for p in pieces)


def test_a_difference_is_by_words():
    assert (
        marked(word_diff("Count every fact.", "Count each fact."))
        == "Count [-every-]{+each+} fact."
    )


@given(TEXT)
def test_marks_that_reorder_or_hide_are_written_out(text):
    shown = visible(text)
    assert not re.search("[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", shown)
    shown.encode("utf-8")


def test_emoji_and_right_to_left_letters_stay():
    assert visible("🩺 שלום مرحبا") == "🩺 שלום مرحبا"


@given(TEXT, st.integers(2, 50))
def test_one_line_is_one_line(text, limit):
    line = one_line(text, limit)
    assert len(line.splitlines()) <= 1
    assert len(line) <= limit


@given(TEXT)
def test_markdown_holds_no_markup_of_the_text(text):
    cell = markdown(text)
    assert "<" not in cell
    assert not re.search(r"(?<!\\)(\\\\)*[|`*_]", cell)


@given(TEXT)
def test_nothing_closes_a_fence_from_inside(text):
    lines = fenced(text).splitlines()
    fence = lines[-1]
    assert re.fullmatch("`{3,}", fence)
    assert all(fence not in line for line in lines[1:-1])


@given(st.recursive(TEXT | st.integers() | st.none(), st.lists))
def test_json_in_a_page_cannot_end_its_element(value):
    text = str(embedded_json(value))
    assert not re.search("[<>&]", text)
    assert json.loads(text) == value


@given(TEXT)
def test_a_page_holds_hostile_text_as_text(text):
    html = page("report.html.j2", report=_Report(text))
    read = Page(html)
    assert read.scripts == []
    assert not [name for name, _ in read.attributes if name.startswith("on")]


@pytest.mark.parametrize(
    ("policy", "clinical", "block"),
    [
        (TextPolicy.FULL, True, True),
        (TextPolicy.HASHES, False, True),
        (TextPolicy.NONE, False, False),
    ],
)
def test_a_policy_shows_or_withholds(policy, clinical, block):
    assert (policy.clinical("secret").text is not None) is clinical
    assert (policy.block("secret").text is not None) is block
    assert "secret" not in TextPolicy.NONE.block("secret").or_hash


class _Report:
    """A report in which every text is the same hostile one."""

    def __init__(self, text: str) -> None:
        self.name = self.headline = self.run_id = text
        self.decision, self.simulated = None, False
        self.sentences = self.caveats = [text]
        self.tiles, self.figures = [], []
        self.sides = self.rules = self.family = self.measures = self.optimism = self.unanswered = (
            None
        )
        self.block = None
        self.looks = self.provenance = _Rows(text)


class _Rows:
    def __init__(self, text: str) -> None:
        self.columns, self.rows = (text, text), ((text, text),)
