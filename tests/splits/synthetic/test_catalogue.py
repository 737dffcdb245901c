"""The vocabulary, the wordings and the complaints fit together."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from tests.splits.synthetic.reading import says

from heldout.splits.benchmark import Severity
from heldout.splits.synthetic.catalogue import VAGUE, catalogue
from heldout.splits.synthetic.edits import DETAIL_SEVERITY

CATALOGUE = catalogue()
STORIES = [
    pytest.param(slots, id=f"{complaint.name}-{story}")
    for complaint in CATALOGUE.complaints
    for story, slots in complaint.narratives.items()
]


@pytest.mark.parametrize("slots", STORIES)
def test_every_slot_names_what_the_vocabulary_holds(slots):
    for slot in slots:
        group = CATALOGUE.words[slot.kind.group]
        assert set(slot.values) <= group.keys(), slot.id
        assert Severity(slot.severity)
        assert set(slot.details) <= DETAIL_SEVERITY.keys(), slot.id
        assert (slot.kind.name == "vital") is (slot.measure in CATALOGUE.words["measure"])


@pytest.mark.parametrize("slots", STORIES)
def test_slots_of_one_kind_have_disjoint_pools(slots):
    for kind in CATALOGUE.kinds:
        values = Counter(v for slot in slots if slot.kind.name == kind for v in slot.values)
        assert all(count == 1 for count in values.values()), (kind, values)


@pytest.mark.parametrize("slots", STORIES)
def test_a_story_has_one_reason_to_come_and_room_for_forty_facts_at_most(slots):
    assert [slot.kind.name for slot in slots].count("problem") == 1
    assert 30 <= len(slots) <= 40
    assert len({slot.id for slot in slots}) == len(slots)


def test_every_concept_is_used():
    slots = [s for c in CATALOGUE.complaints for story in c.narratives.values() for s in story]
    for group in {kind.group for kind in CATALOGUE.kinds.values()}:
        used = {value for slot in slots if slot.kind.group == group for value in slot.values}
        assert used == CATALOGUE.words[group].keys(), group


def test_no_form_means_two_things_within_a_group():
    for group, concepts in CATALOGUE.words.items():
        forms = [
            (form.lower(), name) for name, c in concepts.items() for form in set(c.lay + c.clinical)
        ]
        owners = Counter(form for form, _ in forms if form)
        shared = {form for form, count in owners.items() if count > 1}
        # «for a week» heals and lasts alike, and «some time» is as vague a course as a duration.
        assert not shared, (group, shared)


def test_own_choices_name_concepts_of_that_attribute():
    for concepts in CATALOGUE.words.values():
        for concept in concepts.values():
            for attr, names in concept.own.items():
                assert set(names) <= CATALOGUE.words[attr].keys() - {VAGUE}, concept.id
                assert names


def test_an_unknown_detail_is_worded_in_several_ways():
    for attr in DETAIL_SEVERITY.keys() - {"which"}:
        vague = CATALOGUE.words[attr][VAGUE]
        assert len(vague.clinical) >= 2, attr
        assert len(vague.lay) >= 2, attr


def test_every_kind_is_worded_in_several_ways_with_attributes_it_can_have():
    for kind in CATALOGUE.kinds.values():
        allowed = {"value", "ask", kind.hedged, *CATALOGUE.words, "measure"}
        for wording in filter(None, (kind.yes, kind.no)):
            for templates in (wording.say, wording.terse, wording.full, wording.again):
                assert len(set(templates)) == len(templates) >= 2, kind.name
                for template in templates:
                    assert set(re.findall(r"\{(\w+)\}", template)) <= allowed, template
            assert all(re.search(r"D>|P>", template) for template in wording.say)


def test_a_restatement_is_worded_differently():
    for kind in CATALOGUE.kinds.values():
        for wording in filter(None, (kind.yes, kind.no)):
            first = {template.lower() for template in (*wording.terse, *wording.full)}
            assert not first & {template.lower() for template in wording.again}, kind.name


def test_small_talk_states_no_fact():
    manner = CATALOGUE.manner
    talk = [*manner.greetings, *manner.chatter, *manner.closings, *manner.hesitations]
    for group in ("symptom", "problem", "drug", "condition", "sign", "diagnosis", "test"):
        for concept in CATALOGUE.words[group].values():
            for form in concept.forms:
                assert not any(says(text, form) for text in talk), (group, form)


def test_every_section_has_a_heading_and_a_place_in_every_order():
    sections = {kind.section for kind in CATALOGUE.kinds.values()}
    seconds = {kind.second for kind in CATALOGUE.kinds.values()}
    assert all(kind.section != kind.second for kind in CATALOGUE.kinds.values())
    assert sections <= set(CATALOGUE.manner.talk)
    for order in CATALOGUE.manner.orders:
        assert len(order) == len(set(order))
        assert sections | seconds == set(order)
    for headings in CATALOGUE.manner.headings.values():
        assert sections | seconds == headings.keys()
