"""Every pair is what its label says, read off the rendered texts."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.splits.synthetic.reading import forms, says, sections, sentences

from heldout.splits.benchmark import NoteClass, TraceLevel
from heldout.splits.synthetic import draw

seeds = st.integers(0, 2**40)
few = settings(max_examples=12, deadline=None)


def _pairs(seed):
    return [(item, pair) for item in draw(4, seed).draws for pair in item.pairs]


@given(seeds)
@few
def test_each_errored_note_is_one_edit_away_from_its_twin(seed):
    for item, pair in _pairs(seed):
        edit = pair.difference
        assert pair.clean == item.clean != pair.errored
        assert edit.before == pair.clean[edit.start : edit.end]
        assert edit.before != edit.after
        assert pair.clean[: edit.start] + edit.after + pair.clean[edit.end :] == pair.errored
        assert (sentences(pair.clean) - sentences(pair.errored)).total() <= 1
        assert (sentences(pair.errored) - sentences(pair.clean)).total() <= 1


@given(seeds)
@few
def test_nothing_but_the_edited_sentence_is_lost(seed):
    for _, pair in _pairs(seed):
        lost = sentences(pair.clean) - sentences(pair.errored)
        won = sentences(pair.errored) - sentences(pair.clean)
        expected = {
            NoteClass.OMIT_COMPLETE: (1, 0),
            NoteClass.ADD: (0, 1),
            NoteClass.CHANGE: (1, 1),
        }
        trace = pair.edit.trace
        partial = (1, 0) if trace is TraceLevel.PARTIAL_STRONG else (1, 1)
        assert (lost.total(), won.total()) == expected.get(pair.edit.note_class, partial)


@given(seeds)
@few
def test_a_completely_removed_fact_survives_nowhere(seed):
    for _, pair in _pairs(seed):
        if pair.edit.trace is TraceLevel.COMPLETE:
            fact = pair.edit.fact
            kind = fact.slot.kind
            subject = forms(kind.group, fact.attrs["value"])
            if "measure" in fact.attrs:
                subject = forms("measure", fact.attrs["measure"])
            if not fact.affirmed and kind.topic:
                subject = list(kind.topic)
            assert any(says(pair.clean, form) for form in subject)
            assert not any(says(pair.errored, form) for form in subject)
            assert pair.edit.sites == ()


@given(seeds)
@few
def test_a_partly_removed_fact_survives_as_labelled(seed):
    for _, pair in _pairs(seed):
        edit = pair.edit
        if edit.note_class is not NoteClass.OMIT_PARTIAL:
            continue
        (site,) = edit.sites
        assert site.quote in sections(pair.errored)[site.section]
        assert site.strength == ("weak" if edit.trace is TraceLevel.PARTIAL_WEAK else "strong")
        if edit.trace is TraceLevel.PARTIAL_STRONG:
            assert site.quote in sections(pair.clean)[site.section]
            homes = [
                heading
                for heading, text in sections(pair.clean).items()
                if edit.removed.text in sentences(text)
            ]
            assert homes
            assert site.section not in homes
        else:
            detail = forms(edit.attr, edit.fact.attrs[edit.attr])
            assert any(says(edit.removed.text, form) for form in detail)
            assert not any(says(site.quote, form) for form in detail)


@given(seeds)
@few
def test_an_addition_was_never_said(seed):
    for item, pair in _pairs(seed):
        if pair.edit.note_class is NoteClass.ADD:
            claim = pair.edit.claim
            said = forms(claim.slot.kind.group, claim.attrs["value"])
            if "measure" in claim.attrs:
                said = forms("measure", claim.attrs["measure"])
            elif claim.slot.kind.topic and not claim.affirmed and len(claim.slot.values) > 1:
                said = list(claim.slot.kind.topic)
            assert not any(says(item.transcript, form) for form in said)
            assert claim.slot.id not in {fact.slot.id for fact in item.sheet.facts}


@given(seeds)
@few
def test_a_changed_value_was_never_said(seed):
    for item, pair in _pairs(seed):
        if pair.edit.note_class is NoteClass.CHANGE and pair.edit.attr == "value":
            group = pair.edit.claim.slot.kind.group
            new = forms(group, pair.edit.claim.attrs["value"])
            assert not any(says(item.transcript, form) for form in new)
            old = forms(group, pair.edit.fact.attrs["value"])
            assert any(says(item.transcript, form) for form in old)


@given(seeds)
@few
def test_the_transcript_says_what_the_clean_note_states(seed):
    for item in draw(4, seed).draws:
        for line in item.transcript.splitlines():
            assert re.fullmatch(r"\[(doctor|patient)\] \S.*[.?!]", line), line
        for fact in item.sheet.facts:
            if "measure" not in fact.attrs and (fact.affirmed or not fact.slot.kind.topic):
                said = forms(fact.slot.kind.group, fact.attrs["value"])
                assert any(says(item.transcript, form) for form in said), fact
                assert any(says(item.clean, form) for form in said), fact


@given(seeds)
@few
def test_no_blank_or_stray_mark_is_left_by_a_missing_detail(seed):
    for item in draw(4, seed).draws:
        for text in (item.transcript, item.clean, *(pair.errored for pair in item.pairs)):
            assert not re.search(r"[{}]|  |[,:;] ?[,.;]|\( ?\)| [,.;]|\.\.", text), text


@given(seeds)
@few
def test_a_consultation_has_three_to_six_pairs_of_different_facts(seed):
    for item in draw(4, seed).draws:
        assert 3 <= len(item.pairs) <= 6
        assert len({pair.edit.fact.slot.id for pair in item.pairs}) == len(item.pairs)
        assert len({pair.errored for pair in item.pairs}) == len(item.pairs)
