"""Forms and concepts, and how much of ordinary clinical wording is known."""

from importlib import resources

import yaml

from heldout.students.simulated.lexicon import Lexicon, lexicon, read_forms
from heldout.students.simulated.words import words_of

SMALL = Lexicon(
    read_forms(
        """
        # a remark
        [symptom]
        bloody cough, coughing up blood, haemopt*
        cough, cough*
        stool, =runs
        [allergy]
        drug allergy, allerg*, ~nkda
        [detail:urgency]
        urgent, urgently
        """
    )
)


def concepts(text, table):
    words = words_of(text)
    found = (table.at(words, place) for place in range(len(words)))
    return [form.concept.name for form in found if form is not None]


def test_the_longest_form_wins():
    words = words_of("coughing up blood")
    assert SMALL.at(words, 0).concept.name == "bloody cough"


def test_whole_words_and_beginnings():
    assert concepts("coughs, haemoptysis", SMALL) == ["cough", "bloody cough"]
    assert concepts("hiccough", SMALL) == []


def test_an_exact_form_needs_its_letters():
    assert concepts("the runs", SMALL) == ["stool"]
    assert concepts("she run, Runs", SMALL) == []


def test_a_form_may_deny():
    words = words_of("NKDA")
    assert SMALL.at(words, 0).denies


def test_details_go_by_their_own_name_too():
    form = SMALL.at(words_of("urgent"), 0)
    assert form.concept.is_detail
    assert form.concept.category == "detail:urgency"


# Groups whose forms are numbers, sides or connecting words, read by other means.
READ_OTHERWISE = {
    "score", "duration", "years", "course", "side", "which", "sure", "dose", "frequency", "smoking",
    "alcohol", "reading", "interval", "hedge",
}  # fmt: skip


def test_lay_and_clinical_forms_of_the_made_notes_are_one_concept():
    folder = resources.files("heldout.splits.synthetic")
    vocabulary = yaml.safe_load(folder.joinpath("vocabulary.yaml").read_text(encoding="utf-8"))
    known = unknown = 0
    for group, entries in vocabulary.items():
        if group in READ_OTHERWISE:
            continue
        for name, entry in entries.items():
            forms = [
                str(form) for key in ("lay", "clinical") for form in entry.get(key, []) if form
            ]
            read = [set(concepts(form, lexicon())) for form in forms]
            if name != "vague" and read:
                known += bool(set.intersection(*read))
                unknown += not set.intersection(*read)
    assert known > 400
    assert unknown / (known + unknown) < 0.05
