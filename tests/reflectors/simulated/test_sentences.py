from hypothesis import given
from hypothesis import strategies as st

from heldout.reflectors.simulated.sentences import MAX_LINE_SENTENCES, Text, ask_for, fit
from heldout.reflectors.simulated.topics import Topic

BLOCK = "Read both. List every fact first.\n\nCompare doses, e.g. 2.5 mg. Be calm. Be brief."


def test_a_block_is_taken_apart_and_put_together():
    text = Text.of(BLOCK)
    assert text.lines == (
        ("Read both.", "List every fact first."),
        ("Compare doses, e.g. 2.5 mg.", "Be calm.", "Be brief."),
    )
    assert str(text) == BLOCK.replace("\n\n", "\n")
    assert text.asked == {Topic.INVENTORY, Topic.VALUES}
    assert text.idle == ("Be calm.", "Be brief.")


def test_an_edit_replaces_what_the_block_says_on_the_same_topic():
    text = ask_for(Text.of(BLOCK), Topic.VALUES, "Check each dose.", at=0)
    assert text.sentences.count("Check each dose.") == 1
    assert "Compare doses, e.g. 2.5 mg." not in text.sentences
    assert len(text.sentences) == 5


def test_a_sentence_on_two_topics_is_kept():
    both = Text.of("Compare doses and denials.")
    text = ask_for(both, Topic.VALUES, "Check each dose.", at=0)
    assert text.sentences == ("Compare doses and denials.", "Check each dose.")


def test_what_forbids_a_procedure_gives_way_when_it_is_asked_for():
    text = ask_for(
        Text.of("Do not list the facts. Read."), Topic.INVENTORY, "List all facts.", at=0
    )
    assert text.sentences == ("List all facts.", "Read.")


def test_repeated_sentences_on_a_topic_become_one():
    text = Text.of("Check each dose. Read. Check each duration.")
    assert ask_for(text, Topic.VALUES, "Compare doses.", at=0).sentences == (
        "Compare doses.",
        "Read.",
    )


def test_an_inventory_goes_in_front_and_a_full_line_is_followed_by_a_new_one():
    text = ask_for(Text.of("Read. Score."), Topic.INVENTORY, "List all facts.", at=1)
    assert text.sentences == ("Read.", "List all facts.", "Score.")
    full = Text.of("A. " * MAX_LINE_SENTENCES).append("B.")
    assert full.lines[-1] == ("B.",)
    assert Text.of("").append("B.").lines == (("B.",),)
    assert Text.of("").insert("B.", 0).lines == (("B.",),)


def test_idle_sentences_go_first_when_room_is_short():
    fitted = fit(Text.of(BLOCK), words=12, characters=900, idle_above=999)
    assert fitted.sentences == (
        "Read both.",
        "List every fact first.",
        "Compare doses, e.g. 2.5 mg.",
    )
    assert fit(Text.of(BLOCK), words=99, characters=900, idle_above=13).sentences[-1] == "Be calm."
    assert fit(Text.of(BLOCK), words=99, characters=900, idle_above=999) == Text.of(BLOCK)


@given(st.lists(st.sampled_from(["Be calm.", "List all facts.", "Check doses.", "Read it."])))
def test_fitting_keeps_the_caps_down_to_the_last_sentence(sentences):
    text = Text.of(" ".join(sentences))
    fitted = fit(text, words=6, characters=30, idle_above=5)
    assert len(fitted.sentences) <= max(1, len(text.sentences))
    assert len(str(fitted).split()) <= 6 or len(fitted.sentences) == 1


@given(st.text(max_size=120))
def test_taking_apart_loses_no_word(block):
    assert str(Text.of(block)).split() == block.split()
