"""Filled templates read like sentences whatever is missing."""

from __future__ import annotations

import pytest

from heldout.splits.synthetic.surface import mention, tidy


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Yes,   cough  .", "Yes, cough."),
        ("I take ramipril, , , .", "I take ramipril."),
        ("Aware of collapse as a red flag: .", "Aware of collapse as a red flag."),
        ("on ramipril, , once a day.", "On ramipril, once a day."),
        ("I'm a office worker.", "I'm an office worker."),
        ("There's no a lump here.", "There's no lump here."),
        ("Temp was 36.6. no cough.", "Temp was 36.6. No cough."),
        ("Yes. , numbness of the leg.", "Yes. Numbness of the leg."),
    ],
)
def test_blanks_leave_no_trace(raw, clean):
    assert tidy(raw) == clean


def test_mentions_are_whole_words_in_any_case_with_or_without_an_article():
    pattern = mention(("a murmur", "SOB", "SOB on effort"))
    assert pattern.search("No murmur heard")
    assert pattern.search("has a Murmur")
    assert pattern.search("sob on effort")[0] == "sob on effort"
    assert not pattern.search("sobbing and murmurs")
