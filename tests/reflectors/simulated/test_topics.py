from pathlib import Path

import pytest

from heldout.reflectors.simulated.sentences import Text
from heldout.reflectors.simulated.topics import Topic, asked, topics
from heldout.students.simulated.skills import read_block

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
