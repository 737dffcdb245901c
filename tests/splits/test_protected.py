from dataclasses import replace

import pytest
from tests.support.notes import consultation

from heldout.splits.identifiers.found import IdentifierKind
from heldout.splits.overlap import shingles, words
from heldout.splits.protected import GATHERED_WORDS, ProtectedTexts, protect

NAMED = "[doctor] Good morning, Mrs Baldwin.\n[patient] Born 12 March 1961, number 943 476 5919."


def holding(number, text):
    """Made consultation `number`, whose transcript goes on with `text`."""
    made = consultation(number)
    return replace(made, transcript=f"{made.transcript}\n{text}")


def shared_runs():
    """Runs that the first three made consultations have in common."""
    return set.intersection(*(shingles(consultation(n).clean[0].text) for n in (0, 1, 2)))


def test_every_note_and_the_transcript_are_protected():
    c = consultation(0)
    protected = protect([c])
    for text in (c.transcript, *(note.text for note in c.notes)):
        assert protected.copied(text) == shingles(text)
    notes_only = protect([c], has_transcripts=False)
    in_notes = {run for note in c.notes for run in shingles(note.text)}
    assert notes_only.copied(c.transcript) == shingles(c.transcript) & in_notes


def test_what_three_consultations_hold_is_a_turn_of_phrase():
    (run, *_) = sorted(shared_runs())
    assert protect(map(consultation, (0, 1))).copied(run) == {run}
    assert not protect(map(consultation, (0, 1, 2))).copied(run)
    two, three = (protect(holding(n, NAMED) for n in range(size)) for size in (2, 3))
    assert two.named("Mrs Baldwin, 12/03/1961") == (IdentifierKind.PART, IdentifierKind.DATE)
    assert three.named("Mrs Baldwin, 12/03/1961") == ()


def test_three_notes_of_one_consultation_are_one():
    c = consultation(0)
    assert protect([c]).copied(c.clean[0].text) == shingles(c.clean[0].text)


def test_the_campaigns_own_texts_are_exempt():
    text = consultation(0).clean[0].text
    protected = protect([holding(0, NAMED)], own=[f"Seed. {text.title()}!", "Ask Mrs Baldwin."])
    assert not protected.copied(text)
    assert not protected.gathered(text)
    assert protected.named("as Mrs Baldwin said on 12.3.61") == (IdentifierKind.DATE,)


@pytest.mark.parametrize(
    ("mention", "kind"),
    [
        ("as with Baldwin", IdentifierKind.PART),
        ("see mrs baldwin", IdentifierKind.PART),
        ("as with Bаldwin", IdentifierKind.PART),
        ("born on 12.3.61", IdentifierKind.DATE),
        ("born on the twelfth of March nineteen sixty-one", IdentifierKind.DATE),
        ("number 9434765919", IdentifierKind.NUMBER),
        ("number ９４３-476-5919", IdentifierKind.NUMBER),
    ],
)
def test_an_identifier_is_found_however_it_is_written(mention, kind):
    assert protect([holding(0, NAMED)]).named(f"Mind this, {mention}.") == (kind,)


@pytest.mark.parametrize(
    "text", ["Look at the note. Baldwin", "12 items", "the morning", "500 mg", "a good number", ""]
)
def test_other_words_of_the_consultation_name_nobody(text):
    assert protect([holding(0, NAMED)]).named(text) == ()


def test_many_short_pieces_of_one_consultation_are_as_good_as_a_long_one():
    spelled = words(consultation(0).transcript)
    protected = protect([consultation(0)])
    cut = " then see ".join(" ".join(spelled[k : k + 6]) for k in range(0, 30, 6))
    assert not protected.copied(cut)
    assert protected.gathered(cut) >= GATHERED_WORDS
    assert protected.gathered(" then see ".join(spelled)) == 0
    assert protected.gathered("List what was said. Then look for each item in the note.") == 0


def test_pieces_of_different_consultations_do_not_add_up():
    made = [consultation(0), holding(1, "we went to the seaside with nine cousins last summer")]
    protected = protect(made)
    piece = "the seaside with nine cousins"
    assert protected.gathered(f"{piece}. About this cough for 3 days.") < 12


def test_nothing_is_protected_of_nothing():
    nothing = ProtectedTexts()
    assert not nothing.copied(NAMED)
    assert nothing.gathered(NAMED) == 0
    assert nothing.named(NAMED) == ()
