from tests.reflectors.judged import SEED

from heldout.reflectors.simulated.editing import IDLE_ABOVE_WORDS, Habits, merge, rewrite
from heldout.reflectors.simulated.reading import Case, Request
from heldout.reflectors.simulated.sentences import Text
from heldout.reflectors.simulated.topics import Topic

LED = Habits(exploration=0.0)
CASES = (
    Case(True, "removed", "Allergic to penicillin.", "tied", "complete", "critical"),
    Case(True, "removed", "Takes it twice daily.", "above", "partial-weak", "supporting"),
)


def request(*blocks, cases=CASES, max_words=400, per_fact=False):
    return Request(blocks or (SEED,), cases, max_words, 3000, per_fact)


def changed(before, after):
    """Topics that `after` asks for and `before` does not."""
    return Text.of(after).asked - Text.of(before).asked


def test_at_most_as_many_edits_as_allowed():
    for most in (1, 2, 3):
        habits = Habits(most, exploration=0.0)
        sizes = [len(changed(SEED, rewrite(request(), habits, seed))) for seed in range(120)]
        assert max(sizes) == most
        assert min(sizes) >= 1


def test_evidence_leads_and_exploration_strays():
    led = [rewrite(request(), LED, seed) for seed in range(200)]
    stray = [rewrite(request(), Habits(exploration=1.0), seed) for seed in range(200)]
    assert sum(Topic.INVENTORY in changed(SEED, block) for block in led) > 90
    assert sum(Topic.UNSUPPORTED in changed(SEED, block) for block in led) == 0
    assert sum(not changed(SEED, block) for block in stray) > 60


def test_without_a_failure_every_edit_explores():
    habits = Habits(1, exploration=0.0)
    blocks = {rewrite(request(cases=()), habits, seed) for seed in range(100)}
    assert any(not changed(SEED, block) for block in blocks)


def test_a_proposal_is_never_the_text_it_came_from():
    for seed in range(300):
        block = rewrite(request(), Habits(), seed)
        assert block.split() != SEED.split()
        twin = merge(request(block, SEED), seed)
        assert twin.split() not in (block.split(), SEED.split())


def test_duplicates_are_rare():
    """40 to 55% of the prototype's single-edit proposals were duplicates."""
    blocks = [rewrite(request(), Habits(), seed) for seed in range(400)]
    assert len(set(blocks)) > 0.93 * len(blocks)


def test_blocks_stay_short_over_many_generations():
    block = SEED
    for generation in range(150):
        block = rewrite(request(block), Habits(), generation)
        words = [topic for s in Text.of(block).sentences for topic in Text.of(s).asked]
        assert len(block.split()) < 2 * IDLE_ABOVE_WORDS
        assert len(words) < 3 * len(Topic)
    assert Text.of(block).asked


def test_the_cap_in_the_request_is_kept():
    block = SEED
    for generation in range(60):
        block = rewrite(request(block, max_words=60), Habits(), generation)
        assert len(block.split()) <= 60


def test_a_merge_asks_for_what_either_block_asks_for_once():
    first = (
        "Read both. List every fact, then check each in the note. Compare doses exactly. Be calm."
    )
    second = "Look for unsupported statements. Check each dose. Score in tenths of a point."
    wanted = Text.of(first).asked | Text.of(second).asked
    for seed in range(60):
        text = Text.of(merge(request(first, second), seed))
        assert text.asked == wanted
        for topic in wanted:
            assert sum(topic in Text.of(s).asked for s in text.sentences) == 1


def test_a_merge_draws_from_both():
    first, second = "Check each dose. Be calm.", "Compare doses exactly. Be brief."
    merged = [merge(request(first, second), seed) for seed in range(60)]
    assert any("Check each dose." in block for block in merged)
    assert any("Compare doses exactly." in block for block in merged)


def test_empty_and_one_sentence_blocks_can_be_edited():
    for seed in range(40):
        assert rewrite(request(""), Habits(), seed)
        assert rewrite(request("Judge."), Habits(), seed)
        assert merge(request("", ""), seed)
