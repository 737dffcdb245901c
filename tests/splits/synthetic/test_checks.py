"""The generator's own checks find what is planted in pairs that stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heldout.splits.benchmark import NoteClass, TraceLevel
from heldout.splits.synthetic import draw
from heldout.splits.synthetic.checks import Rendered, fault_of, unsupported
from heldout.splits.synthetic.difference import one_difference
from heldout.splits.synthetic.edits import clean_statements
from heldout.splits.synthetic.surface import forms_of


@pytest.fixture(scope="module")
def drawn():
    return draw(24, 9)


def _one(drawn, fits):
    """The first pair that fits, with its draw."""
    return next((item, pair) for item in drawn.draws for pair in item.pairs if fits(pair.edit))


def _fault(item, pair, *, edit=None, errored=None, transcript=None):
    errored = pair.errored if errored is None else errored
    texts = Rendered(
        item.transcript if transcript is None else transcript,
        pair.clean,
        errored,
        one_difference(pair.clean, errored),
    )
    return fault_of(edit or pair.edit, texts, clean_statements(item.sheet))


def test_every_pair_of_a_draw_stands(drawn):
    assert {_fault(item, pair) for item in drawn.draws for pair in item.pairs} == {None}


def test_a_note_without_a_visible_edit(drawn):
    item, pair = _one(drawn, lambda edit: edit.note_class is NoteClass.CHANGE)
    assert _fault(item, pair, errored=pair.clean) == "not exactly one visible edit"


def test_an_edit_that_runs_on(drawn):
    item, pair = _one(drawn, lambda edit: edit.note_class is NoteClass.ADD)
    longer = pair.difference.after.rstrip() + " and so on" * 15
    errored = replace(pair.difference, after=longer).apply(pair.clean)
    assert _fault(item, pair, errored=errored) == "edit too long"


def test_a_removed_fact_that_is_still_mentioned(drawn):
    item, pair = _one(drawn, lambda edit: edit.trace is TraceLevel.COMPLETE)
    word = forms_of(pair.edit.fact, "measure" if "measure" in pair.edit.fact.attrs else "value")
    errored = replace(pair.difference, after=f"Return if {word[0].upper()}. ").apply(pair.clean)
    assert _fault(item, pair, errored=errored) == "removed fact still mentioned"


def test_a_sentence_lost_beside_the_edit(drawn):
    item, pair = _one(drawn, lambda edit: edit.note_class is NoteClass.ADD)
    others = [statement.text for statement in clean_statements(item.sheet)]
    faults = {_fault(item, pair, errored=pair.errored.replace(text, "")) for text in others}
    # A sentence far from the edit makes the stretch between them too long.
    assert faults == {"another fact lost", "edit too long"}


def test_a_trace_that_is_not_there(drawn):
    item, pair = _one(drawn, lambda edit: edit.trace is TraceLevel.PARTIAL_STRONG)
    site = pair.edit.sites[0]
    elsewhere = replace(pair.edit, sites=(replace(site, quote="Nothing of the kind."),))
    assert _fault(item, pair, edit=elsewhere) == "labelled trace not in the note"
    assert _fault(item, pair, edit=replace(pair.edit, sites=())) == "labelled trace not in the note"


def test_a_trace_of_another_fact(drawn):
    item, pair = _one(drawn, lambda edit: edit.trace is TraceLevel.PARTIAL_STRONG)
    strangers = [
        s for s in clean_statements(item.sheet) if s.slot not in (pair.edit.fact.slot.id, "main")
    ]
    wrong = replace(pair.edit.sites[0], quote=strangers[0].text)
    edit = replace(pair.edit, sites=(wrong,))
    assert _fault(item, pair, edit=edit) == "trace does not name the fact"


def test_a_detail_that_is_still_stated(drawn):
    item, pair = _one(drawn, lambda edit: edit.trace is TraceLevel.PARTIAL_WEAK)
    quote = pair.edit.sites[0].quote
    longer = f"{quote} {forms_of(pair.edit.fact, pair.edit.attr)[0]}."
    edit = replace(pair.edit, sites=(replace(pair.edit.sites[0], quote=longer),))
    errored = pair.errored.replace(quote, longer)
    assert _fault(item, pair, edit=edit, errored=errored) == "removed detail still stated"


def test_an_addition_that_was_said_after_all(drawn):
    item, pair = _one(
        drawn, lambda edit: edit.note_class is NoteClass.ADD and not edit.fact.slot.kind.topic
    )
    attr = "measure" if "measure" in pair.edit.fact.attrs else "value"
    said = f"{item.transcript}\n[patient] By the way, {forms_of(pair.edit.fact, attr)[0]}."
    assert _fault(item, pair, transcript=said) == "addition touches the transcript"


def test_a_changed_value_that_was_said_after_all(drawn):
    item, pair = _one(
        drawn, lambda edit: edit.note_class is NoteClass.CHANGE and edit.attr == "value"
    )
    said = f"{item.transcript}\n[doctor] {forms_of(pair.edit.claim, 'value')[0]}."
    assert _fault(item, pair, transcript=said) == "changed value is in the transcript"


def test_a_changed_detail_that_was_said_of_the_same_fact(drawn):
    item, pair = _one(
        drawn, lambda edit: edit.note_class is NoteClass.CHANGE and edit.attr == "side"
    )
    value = forms_of(pair.edit.fact, "value")[0]
    side = forms_of(pair.edit.claim, "side")[0]
    said = f"{item.transcript}\n[patient] {value} {side}."
    assert _fault(item, pair, transcript=said) == "changed detail is in the transcript"
    far = f"{item.transcript}\n[patient] {value}.{' Well.' * 20} {side}."
    assert _fault(item, pair, transcript=far) is None


def test_a_fact_without_words_in_transcript_or_note(drawn):
    item = drawn.draws[0]
    assert unsupported(item.sheet.facts, item.transcript, item.clean) == []
    everything = [fact.slot.id for fact in item.sheet.facts]
    assert unsupported(item.sheet.facts, item.transcript, "") == everything
    assert unsupported(item.sheet.facts, "", item.clean) == everything
