"""A note beside its transcript."""

import pytest

from heldout.students.simulated.matching import compare

TALK = "\n".join(
    [
        "[doctor] What brings you in?",
        "[patient] I've been coughing up blood for three days.",
        "[doctor] Any fever?",
        "[patient] No, no fever.",
        "[doctor] Do you take any regular medicines?",
        "[patient] I take ramipril, five milligrams, once a day.",
        "[doctor] This is probably a chest infection.",
        "[doctor] I'd like to arrange a chest X-ray.",
    ]
)
NOTE = "\n".join(
    [
        "PC:", "Coughing up blood for 3/7.", "HPC:", "Denies fever.", "DH:", "Ramipril 5 mg OD.",
        "Imp:", "Probable chest infection.", "Plan:", "CXR.",
    ]
)  # fmt: skip


def sights(note, name, talk=TALK):
    seen = compare(talk, note)
    found = {fact.name: s for fact, s in zip(seen.transcript.facts, seen.sights, strict=True)}
    return found[name]


@pytest.mark.parametrize("name", ["haemoptysis", "fever", "ramipril", "bronchitis", "chest xray"])
def test_a_faithful_note_holds_every_fact_where_it_belongs(name):
    (sight,) = sights(NOTE, name)
    assert not sight.reversed
    assert not sight.altered
    assert sight.missing == 0
    assert sight.placed


def test_a_removed_fact_has_no_sight():
    assert sights(NOTE.replace("Denies fever.", ""), "fever") == ()


def test_other_words_are_seen_but_not_as_the_same_words():
    assert not sights(NOTE, "chest xray")[0].literal
    assert sights(NOTE.replace("CXR", "Chest X-ray"), "chest xray")[0].literal


def test_a_changed_number_is_altered_and_a_lost_one_is_missing():
    assert sights(NOTE.replace("5 mg", "10 mg"), "ramipril")[0].altered
    lost = sights(NOTE.replace(" 5 mg OD", ""), "ramipril")[0]
    assert lost.missing == 1
    assert not lost.altered
    assert sights(NOTE.replace(" 5 mg", ""), "ramipril")[0].missing == 0.5


def test_a_flipped_negative_and_a_hardened_guess_are_reversed():
    assert sights(NOTE.replace("Denies fever", "Has fever"), "fever")[0].reversed
    assert sights(NOTE.replace("Probable c", "C"), "bronchitis")[0].reversed


def test_a_restatement_elsewhere_is_not_placed():
    moved = NOTE.replace("Denies fever.", "") + "\nSummary:\nNo fever."
    assert not sights(moved, "fever")[0].placed


def test_a_note_without_headings_has_no_wrong_place():
    assert sights("Coughing up blood, no fever.", "fever")[0].placed


def support(sentence):
    return next(s for s in compare(TALK, f"{NOTE}\n{sentence}").support if s.text in sentence)


def test_statements_that_nobody_said_are_alien():
    assert support("Allergic to latex.").alien
    assert support("Enjoys gardening in the allotment.").alien
    assert not support("Denies any fever.").alien


def test_a_statement_against_the_transcript_is_contrary():
    found = support("Has a high fever.")
    assert found.contrary
    assert found.times == 2
    assert support("Takes ramipril 10 mg.").altered
