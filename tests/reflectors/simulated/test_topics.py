from pathlib import Path

import pytest
from tests.support.word_tables import faults

from heldout.reflectors.simulated.reading import Case
from heldout.reflectors.simulated.sentences import Text
from heldout.reflectors.simulated.topics import (
    TABLE,
    Topic,
    asked,
    compose,
    filler,
    lessons,
    sentence,
    topics,
)
from heldout.students.simulated.skills import Skill, read_block

SEEDS = range(400)
BLOCKS = sorted((Path(__file__).parents[3] / "configs" / "blocks").glob("*.txt"))


@pytest.mark.parametrize("path", BLOCKS, ids=lambda path: path.stem)
def test_the_shipped_seeds_are_read_as_the_judge_reads_them(path):
    block = path.read_text()
    assert {t.value for t in Text.of(block).asked} == {s.value for s in read_block(block)}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Do not list the facts first.", set()),
        ("There is no need to enumerate what was said.", set()),
        ("Never accept a fragment.", {Topic.PARTIAL}),
        ("Use whole points only.", set()),
        ("Use tenths, not whole points.", {Topic.FINE_SCORE}),
        ("Compare doses and denials.", {Topic.VALUES, Topic.POLARITY}),
        ("Give it a number.", set()),
    ],
)
def test_forbidding_is_told_from_asking(sentence, expected):
    assert asked(sentence) == expected
    assert asked(sentence) <= topics(sentence)


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


def test_every_entry_of_the_word_table_is_used_and_every_pattern_compiles():
    assert faults(TABLE, "heldout.reflectors.simulated", ("phrases", "fillers")) == []
    assert set(TABLE.entries["cues"]) == set(TABLE.entries["phrases"]) == {*Topic}


def case(edit="removed", fact="Allergic to penicillin.", ranking="tied", **kwargs):
    defaults = {"failed": True, "trace": "complete", "severity": "supporting"}
    return Case(edit=edit, fact=fact, ranking=ranking, **{**defaults, **kwargs})


def strongest(*cases, asked=frozenset(), per_fact=False):
    weights = lessons(cases, asked, per_fact=per_fact)
    return max(weights, key=weights.__getitem__)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (case(), Topic.INVENTORY),
        (case(trace="partial-strong"), Topic.PLACEMENT),
        (case(edit="added", trace=None), Topic.UNSUPPORTED),
        (case(edit="altered", fact="dose 21 mg altered to 42 mg", trace=None), Topic.VALUES),
        (case(edit="altered", fact="Denies fever, now has fever", trace=None), Topic.POLARITY),
    ],
)
def test_a_failure_speaks_for_the_procedure_that_would_have_seen_it(failure, expected):
    assert strongest(failure) is expected


def test_a_lost_detail_speaks_for_strictness_and_for_values_if_it_is_one():
    weak = lessons([case(trace="partial-weak", fact="or if worse")], frozenset(), per_fact=False)
    dose = lessons([case(trace="partial-weak", fact="5 mg")], frozenset(), per_fact=False)
    assert weak[Topic.PARTIAL] > weak[Topic.VALUES]
    assert dose[Topic.VALUES] > weak[Topic.VALUES]


def test_ties_speak_for_a_finer_score_and_inversions_for_tolerance():
    tied = lessons([case()], frozenset(), per_fact=False)
    above = lessons([case(ranking="above")], frozenset(), per_fact=False)
    assert Topic.FINE_SCORE in tied
    assert Topic.FINE_SCORE not in above
    assert above[Topic.PARAPHRASE] > tied[Topic.PARAPHRASE]


def test_what_the_block_asks_for_already_weighs_less():
    failures = [case(), case()]
    assert strongest(*failures, asked=frozenset({Topic.INVENTORY})) is Topic.FINE_SCORE


def test_severity_counts():
    critical = lessons([case(severity="critical")], frozenset(), per_fact=False)
    peripheral = lessons([case(severity="peripheral")], frozenset(), per_fact=False)
    assert critical[Topic.INVENTORY] > peripheral[Topic.INVENTORY]


def test_a_judge_with_a_list_needs_no_inventory():
    assert strongest(case(fact="No fever."), per_fact=True) not in (
        Topic.INVENTORY,
        Topic.FINE_SCORE,
    )


def test_what_went_well_teaches_nothing():
    assert lessons([case(failed=False, ranking="below")], frozenset(), per_fact=False) == {}
    assert lessons([], frozenset(), per_fact=False) == {}
