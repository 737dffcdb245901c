import pytest

from heldout.reflectors.simulated.phrases import compose, filler, sentence
from heldout.reflectors.simulated.topics import Topic, asked, topics
from heldout.students.simulated.skills import Skill, read_block

SEEDS = range(400)


def test_topics_are_the_judges_procedures():
    assert {topic.value for topic in Topic} == {skill.value for skill in Skill}


@pytest.mark.parametrize("topic", list(Topic))
def test_the_simulated_judge_understands_every_wording(topic):
    """Composed wordings ask the judge for their procedure and for no other."""
    wordings = {sentence(topic, seed) for seed in SEEDS}
    misread = {w: read_block(w) for w in wordings if read_block(w) != {Skill(topic.value)}}
    assert misread == {}


@pytest.mark.parametrize("topic", list(Topic))
def test_the_reflector_understands_its_own_wordings(topic):
    assert [s for s in (sentence(topic, seed) for seed in SEEDS) if asked(s) != {topic}] == []


def test_fillers_ask_for_nothing():
    wordings = {filler(seed) for seed in SEEDS}
    assert len(wordings) > 30
    assert [w for w in wordings if read_block(w) or topics(w)] == []


@pytest.mark.parametrize("topic", list(Topic))
def test_wordings_differ_by_seed(topic):
    wordings = [sentence(topic, seed) for seed in SEEDS]
    assert len(set(wordings)) > 120
    assert max(wordings.count(w) for w in set(wordings)) < 20


@pytest.mark.parametrize("topic", list(Topic))
def test_every_wording_is_a_tidy_sentence(topic):
    for text in (sentence(topic, seed) for seed in SEEDS):
        assert text[0].isupper()
        assert text.endswith(".")
        assert not set("[]|{}<>") & set(text)
        assert "  " not in text
        assert " ," not in text


def test_an_inventory_comes_before_the_check():
    for text in (sentence(Topic.INVENTORY, seed).lower() for seed in SEEDS):
        makes = min(
            text.find(verb) if verb in text else len(text)
            for verb in ("list", "enumerat", "write down", "itemise", "inventory")
        )
        assert makes < text.index(" note", makes) or "before you" in text


def test_parts_are_drawn_independently():
    drawn = {compose("[a|b] [c|d]", seed) for seed in range(40)}
    assert drawn == {"a c", "a d", "b c", "b d"}
    assert compose("[|x], y", 1) in {", y", "x, y"}
