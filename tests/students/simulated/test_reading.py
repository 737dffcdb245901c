"""What is understood of transcripts and notes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.students.simulated.reading import read_note, read_transcript
from heldout.students.simulated.sections import sections_of, without_headings


def fact(transcript, name, group=""):
    found = {f.key: f for f in read_transcript(transcript).facts}
    return found.get((name, group))


def mention(note, name, group=""):
    return read_note(note).mentions[(name, group)][0][0]


@pytest.mark.parametrize(
    ("talk", "denied"),
    [
        ("[doctor] Any fever?\n[patient] No.", True),
        ("[doctor] Any fever?\n[patient] Um, no, none of that.", True),
        ("[doctor] Any fever?\n[patient] Yes, on and off.", False),
        ("[doctor] So there's been no fever at all?\n[patient] No, none.", True),
        ("[doctor] Have you had a temperature?\n[patient] I haven't.", True),
        ("[patient] There's been no fever, if that helps.\n[doctor] Good.", True),
        ("[patient] I've had a fever for two days.\n[doctor] Okay.", False),
        ("[doctor] any fever or chills\n[patient] no i have n't", True),
    ],
)
def test_question_and_answer_settle_the_polarity(talk, denied):
    assert fact(talk, "fever").denials == {denied}


def test_a_question_without_an_answer_states_nothing():
    talk = "[doctor] Any fever?\n[patient] Where did I put my glasses?"
    assert fact(talk, "fever") is None
    assert "fever" in read_transcript(talk).concepts


def test_a_denial_reaches_over_a_list_but_not_over_a_but():
    note = "No fever, cough or rash, but has a headache."
    assert [mention(note, n).negated for n in ("fever", "cough", "rash", "headache")] == [
        True, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "note",
    [
        "Denies fever.",
        "Nil fever",
        "Fever absent.",
        "No h/o fever",
        "Without fever.",
        "Afraid of no fever",
    ],
)
def test_ways_to_deny_in_a_note(note):
    assert mention(note, "fever").negated


def test_a_denial_by_itself():
    assert mention("NKDA", "drug allergy").negated
    assert all(
        m.negated
        for m, _ in read_note("Allergy status checked: NKDA.").mentions[("drug allergy", "")]
    )


@pytest.mark.parametrize(
    ("note", "doubt"),
    [
        ("Possible migraine.", 2),
        ("? migraine", 2),
        ("Imp ?migraine", 2),
        ("Probable migraine", 1),
        ("Definite migraine", 0),
        ("Migraine.", 0),
    ],
)
def test_degrees_of_doubt(note, doubt):
    assert mention(note, "migraine").doubt == doubt


def test_family_history_is_not_the_patients_own():
    talk = "[doctor] Does anything run in the family?\n[patient] Yes, my dad had angina."
    assert fact(talk, "angina") is None
    assert fact(talk, "angina", "family").details["relation"] == {"father"}
    assert mention("FH: angina, father.", "angina", "family")


def test_what_a_remedy_did():
    talk = "[doctor] Have you tried anything?\n[patient] Ibuprofen, but that doesn't help."
    found = fact(talk, "ibuprofen", "remedy")
    assert found.effects == {-1}
    assert found.denials == {False}
    assert mention("Ibuprofen tried, helped.", "ibuprofen", "remedy").effect == 1


def test_details_go_to_the_nearest_fact_they_fit():
    note = "Takes ramipril 5 mg once daily and salbutamol two puffs as needed for a left knee pain."
    assert ("mg", "5") in mention(note, "ramipril").details
    assert ("puff", "2") in mention(note, "salbutamol").details
    assert ("side", "left") in mention(note, "knee pain").details


def test_a_detail_in_the_next_sentence_of_the_turn():
    talk = (
        "[doctor] We'll treat it with amoxicillin. That's 500 mg, three times a day.\n[patient] Ok."
    )
    assert fact(talk, "amoxicillin").details == {"mg": {"500"}, "frequency": {"3"}}


def test_right_is_not_always_a_side():
    assert fact("[patient] Right, I have a cough.", "cough").details == {}
    assert fact("[patient] I have pain in my right knee, knee pain.", "knee pain").details == {
        "side": {"right"}
    }


def test_evidence_is_words_of_the_transcript():
    talk = "[doctor] Hello there.\n[patient] I have had this terrible cough since I came home."
    assert fact(talk, "cough").evidence in " ".join(talk.split())


def test_speaker_tags_are_no_words():
    assert "doctor" not in read_transcript("[doctor] Hello.\nPatient: Hi.").stems


def test_sections_with_headings_alone_or_in_line():
    note = (
        "PC: cough\n\nPMH: asthma\nPlan:\nRest.\nAdvice given: fluids.\n\nSOCIAL HISTORY\nSmokes."
    )
    kinds = [sorted(kinds) for _, kinds in sections_of(note)]
    assert kinds == [[], ["history"], ["background"], ["plan"], ["social"]]
    assert "SOCIAL" not in without_headings(note)
    assert len(without_headings(note)) == len(note)
    assert read_note(note).mentions[("asthma", "")][0][1] == {"background"}


def test_headings_are_no_statements():
    assert [s.text for s in read_note("PHYSICAL EXAM\nNo murmur.").statements] == ["No murmur"]


@given(st.text(max_size=300))
def test_any_text_can_be_read(text):
    read_note(text)
    read_transcript(text)


@given(
    st.lists(st.sampled_from(["no", "fever", "cough", ".", "\n", "?", "3/7", "left", "if", ":"]))
)
def test_any_order_of_clinical_words_can_be_read(words):
    text = " ".join(words)
    reading = read_note(text)
    for several in reading.mentions.values():
        for found, _ in several:
            assert text[found.start : found.end].strip()
