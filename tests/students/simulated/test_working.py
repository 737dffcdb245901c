"""What budget, skills, dilution, temperature and the effect factor do to a judge."""

import pytest

from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_text
from heldout.splits.synthetic import draw
from heldout.students.models.chat import Budget, ChatRequest, ModelPin
from heldout.students.simulated.effects import EFFECTS, Scale
from heldout.students.simulated.matching import compare
from heldout.students.simulated.skills import Skill, read_block
from heldout.students.simulated.working import Mind, points, work

PLAIN = "Judge how faithful and complete the note is."
INVENTORY = "First list every fact of the transcript, then look for each one in the note."
TOLERANT = f"{INVENTORY} A paraphrase counts as captured. Give the score with one decimal."
FIXED = "9fd0babaca51dcf201a739df3cbb3e07daffafd5f4735dfcb9123b995ebf2ad8"
DRAW = draw(8, 3).draws
PAIRS = [(d.transcript, d.clean, pair.errored) for d in DRAW for pair in d.pairs]


def mind(block=TOLERANT, max_tokens=1500, *, temperature=0.0, seed=1, effort=None, effect=1.0):
    pin = ModelPin("sim/judge", temperature, {"effect": effect})
    return Mind.of(ChatRequest(pin, (), Budget(max_tokens, effort), seed), block)


def score(note, transcript, **options):
    made = mind(**options)
    seen = compare(transcript, note)
    return points(made, work(made, seen), seen.transcript.digest)


def test_the_table_is_the_one_that_was_fixed():
    assert sha256_text(repr(EFFECTS)) == FIXED


def test_a_budget_that_ends_inside_the_list_checks_nothing():
    seen = compare(DRAW[0].transcript, DRAW[0].clean)
    listed = len(seen.transcript.facts) * EFFECTS.prices.listing
    starved = EFFECTS.prices.base + int(listed / (1 - EFFECTS.glance_share)) - 5
    assert work(mind(max_tokens=starved), seen).facts == ()
    assert len(work(mind(max_tokens=4000), seen).facts) == len(seen.transcript.facts)


def test_more_tokens_never_check_fewer_facts():
    seen = compare(DRAW[1].transcript, DRAW[1].clean)
    counts = [len(work(mind(max_tokens=n), seen).facts) for n in range(0, 4001, 100)]
    assert counts == sorted(counts)
    assert 0 < counts[-1] == len(seen.transcript.facts)


def test_effort_adds_room():
    rooms = [mind(effort=effort).room for effort in ("none", "low", "medium", "high")]
    assert rooms == sorted(rooms)
    assert rooms[0] == mind().room < rooms[-1]


def test_without_an_inventory_the_budget_hardly_matters():
    for transcript, _, errored in PAIRS:
        assert score(errored, transcript, block=PLAIN, max_tokens=1000) == score(
            errored, transcript, block=PLAIN, max_tokens=8000
        )


def test_at_temperature_0_the_seed_does_not_matter_and_above_it_does():
    notes = [(d.transcript, d.clean) for d in DRAW]
    for transcript, note in notes:
        assert score(note, transcript, seed=1) == score(note, transcript, seed=2)
    warm = {tuple(score(n, t, temperature=1.0, seed=seed) for t, n in notes) for seed in range(12)}
    assert len(warm) > 1


def test_at_effect_0_every_block_is_the_plain_one():
    every = f"{TOLERANT} Compare every dose. A fragment is not full capture. Check every denial."
    for transcript, clean, errored in PAIRS:
        for note in (clean, errored):
            plain = score(note, transcript, block=PLAIN, effect=0)
            assert score(note, transcript, block=every, effect=0) == plain
            assert score(note, transcript, block=PLAIN, effect=1) == plain


def test_the_factor_moves_the_reach_and_beyond_1_the_price():
    block = "Compare every dose. A fragment is not full capture."
    reach = {f: mind(block, effect=f).reach[Skill.PARTIAL] for f in (0.5, 1.0, 2.0)}
    assert reach[0.5] == pytest.approx(EFFECTS.reach["partial"] / 2)
    assert reach[1.0] == pytest.approx(EFFECTS.reach["partial"])
    assert reach[2.0] == 1.0
    assert mind(effect=2).check_price == pytest.approx(mind().check_price / 2)
    assert mind(effect=0.5).check_price == mind().check_price


@pytest.mark.parametrize("factor", [-1, 5, "much", True, None])
def test_an_effect_that_is_no_factor_is_refused(factor):
    with pytest.raises(BadInput, match=r"parameters\.effect"):
        Scale.of({"effect": factor})


def test_long_blocks_are_diluted():
    long = f"{TOLERANT} {'The next clinician relies on this record. ' * 40}"
    assert read_block(long) == read_block(TOLERANT)
    assert mind(long).reach[Skill.INVENTORY] < mind().reach[Skill.INVENTORY] == 1.0
    assert mind(f"{TOLERANT} {'And so on. ' * 5000}").reach[Skill.INVENTORY] == pytest.approx(0.4)


def test_twins_share_what_is_diluted():
    long = f"{TOLERANT} {'The next clinician relies on this record. ' * 40}"
    for transcript, clean, errored in PAIRS:
        looked = [
            {
                checked.fact.key
                for checked in work(mind(long, 9000), compare(transcript, note)).facts
            }
            for note in (clean, errored)
        ]
        assert looked[0] == looked[1]


def test_a_decimal_is_given_only_where_it_is_asked_for():
    steps = {
        block: {score(d.clean, d.transcript, block=block) % 0.5 for d in DRAW}
        for block in (INVENTORY, TOLERANT)
    }
    assert steps[INVENTORY] == {0.0}
    assert steps[TOLERANT] != {0.0}


def test_a_removed_fact_costs_points_with_an_inventory():
    for d in DRAW:
        for pair in d.pairs:
            if str(pair.edit.trace) == "complete":
                clean = score(d.clean, d.transcript, max_tokens=4000)
                assert score(pair.errored, d.transcript, max_tokens=4000) <= clean
