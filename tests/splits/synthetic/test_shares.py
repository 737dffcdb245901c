"""What a benchmark of synthetic consultations is made of."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from statistics import mean

import pytest

from heldout.splits.benchmark import Severity
from heldout.splits.synthetic import draw
from heldout.splits.synthetic.catalogue import catalogue


@pytest.fixture(scope="module")
def drawn():
    return draw(160, 8)


@pytest.fixture(scope="module")
def pairs(drawn):
    return [pair for item in drawn.draws for pair in item.pairs]


def _shares(values):
    counts = Counter(values)
    return {value: count / counts.total() for value, count in counts.items()}


def test_every_complaint_and_most_narratives_come_up_equally_often(drawn):
    complaints = Counter(item.sheet.complaint for item in drawn.draws)
    assert len(complaints) >= 8
    assert max(complaints.values()) - min(complaints.values()) <= 1
    assert all(len(complaint.narratives) >= 3 for complaint in catalogue().complaints)
    assert len({(item.sheet.complaint, item.sheet.narrative) for item in drawn.draws}) >= 30


def test_classes_and_levels_are_mixed_as_in_the_real_pairs(pairs):
    shares = _shares(pair.edit.trace or pair.edit.note_class for pair in pairs)
    assert shares.keys() == {"complete", "partial-weak", "partial-strong", "add", "change"}
    assert 0.23 < shares["complete"] < 0.34
    assert all(0.12 < shares[name] < 0.25 for name in shares if name != "complete")


def test_every_severity_occurs_in_every_class(pairs):
    shares = _shares(pair.edit.severity for pair in pairs)
    assert all(0.08 < shares[severity] < 0.55 for severity in Severity)
    cells = Counter((pair.edit.note_class, pair.edit.severity) for pair in pairs)
    assert len(cells) == 4 * 3


def test_no_sort_of_change_is_rare(pairs):
    changed = [pair.edit.attr for pair in pairs if pair.edit.note_class == "change"]
    shares = _shares(changed)
    assert shares["polarity"] > 0.15
    assert shares.get("side", 0) + shares.get("which", 0) > 0.08
    assert shares.get("sure", 0) + shares.get("hedge", 0) > 0.08
    assert shares.get("dose", 0) + shares.get("frequency", 0) > 0.05


def test_about_a_third_of_the_facts_stand_under_two_headings(drawn):
    twice = [len(fact.parts) == 2 for item in drawn.draws for fact in item.sheet.facts]
    assert 0.33 < mean(twice) < 0.43


def test_affirmed_and_denied_facts_are_equally_common(drawn):
    polar = [
        fact.affirmed
        for item in drawn.draws
        for fact in item.sheet.facts
        if fact.slot.kind.no is not None
    ]
    assert 0.45 < mean(polar) < 0.55
    flipped = [
        pair.edit.claim.affirmed
        for item in drawn.draws
        for pair in item.pairs
        if pair.edit.attr == "polarity"
    ]
    assert 0.25 < mean(flipped) < 0.75


def test_notes_range_from_sparse_to_full(drawn):
    shares = [
        len(item.sheet.facts) / (len(item.sheet.facts) + len(item.sheet.left_out))
        for item in drawn.draws
    ]
    assert min(shares) < 0.45
    assert max(shares) > 0.88
    assert 0.6 < mean(shares) < 0.75
    assert all(len(item.sheet.left_out) >= 3 for item in drawn.draws)


def test_both_note_styles_are_strata(drawn):
    shares = _shares(c.stratum for c in drawn.benchmark)
    assert shares.keys() == {"terse", "full"}
    assert 0.35 < shares["terse"] < 0.65


def test_what_was_dropped_is_counted_by_reason_and_little(drawn, pairs):
    assert drawn.dropped
    assert all(count > 0 for count in drawn.dropped.values())
    assert sum(drawn.dropped.values()) < 0.1 * len(pairs)


def test_no_two_consultations_are_near_duplicates(drawn):
    def grams(text):
        words = re.findall(r"\w+", text.lower())
        return {tuple(words[n : n + 5]) for n in range(len(words) - 4)}

    transcripts = [grams(item.transcript) for item in drawn.draws]
    # Near-duplicates are refused across splits at 0.6.
    closest = max(len(a & b) / len(a | b) for a, b in combinations(transcripts, 2))
    assert closest < 0.3
