import numpy as np
import pytest
from hypothesis import given
from tests.support.score_tables import build, table_pairs

from heldout.gepa.gate.rules import all_rules
from heldout.gepa.gate.simulated_rules import ships
from heldout.gepa.statistics.difference import Difference, difference
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import generator

RULES = ("interval", "bootstrap", "permutation", "point")


def pair(*consultations):
    """Candidate and baseline: each consultation is wins of the candidate over a tying baseline."""
    ours = build(*[(9, [("omit", s) for s in scores]) for scores in consultations])
    theirs = build(*[(9, [("omit", 9) for _ in scores]) for scores in consultations])
    return difference(ours, theirs)


CLEAR = pair(*[(8, 8, 9)] * 8, *[(8, 9, 9)] * 8)
NOISE = pair(*[(8, 10, 9)] * 8, *[(8, 9, 10, 10)] * 4)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_ships_a_clear_gain_and_refuses_a_clear_loss(name):
    rule = all_rules(seed=1)[name]
    assert rule.verdict(CLEAR, alpha=0.025, margin=0).ships
    assert not rule.verdict(CLEAR, alpha=0.025, margin=0.4).ships
    assert not rule.verdict(NOISE, alpha=0.025, margin=0).ships


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("data", [pair(), pair((8, 8, 8))], ids=["no pair", "one consultation"])
def test_only_the_point_rule_is_moved_by_one_consultation(name, data):
    verdict = all_rules(seed=1)[name].verdict(data, alpha=0.025, margin=0)
    assert verdict.ships == (name == "point" and data.n > 0)


@given(table_pairs(min_groups=2))
def test_the_interval_rule_is_its_p(tables):
    data = difference(*tables)
    verdict = all_rules(seed=1)["interval"].verdict(data, alpha=0.025, margin=0.01)
    if verdict.p is not None and abs(verdict.p - 0.025) > 1e-9:
        assert verdict.ships == (verdict.p < 0.025)


def test_p_without_spread_is_the_level_at_which_the_bound_reaches_the_margin():
    data = pair(*[(8,)] * 5)
    rule = all_rules(seed=1)["interval"]
    p = rule.verdict(data, alpha=0.025, margin=0).p
    assert rule.verdict(data, alpha=p * 1.001, margin=0).ships
    assert not rule.verdict(data, alpha=p * 0.999, margin=0).ships


@pytest.mark.parametrize("name", RULES)
def test_many_data_sets_are_decided_as_each_alone(name):
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 5, (60, 15)).astype(float)
    sums = np.rint(rng.normal(0.35, 1, (60, 15)) * sizes) / 2
    together = ships(
        ClusterSums(sums, sizes), name, generator(1), alpha=0.025, margin=0.02, resamples=4_000
    )
    alone = [one(name, sums[i], sizes[i]) for i in range(60)]
    # Resampling rules may differ at the edge; nothing else may.
    allowed = 3 if name in ("bootstrap", "permutation") else 0
    assert (together != np.array(alone)).sum() <= allowed
    assert 5 < together.sum() < 60 or name == "point"


def one(name, sums, sizes):
    """The rule on a difference that has these sums and sizes by consultation."""
    cluster = np.repeat(np.arange(len(sizes)), sizes.astype(int))
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    credit = np.zeros(len(cluster), dtype=np.int64)
    credit[first] = np.rint(2 * sums).astype(int)
    zero = np.zeros(len(cluster), dtype=np.int64)
    found = Difference(
        tuple(map(str, cluster)), credit, zero, 2, 2, cluster, np.ones(len(cluster), dtype=bool)
    )
    return all_rules(seed=1)[name].verdict(found, alpha=0.025, margin=0.02).ships


def test_simulation_needs_two_consultations():
    with pytest.raises(ValueError, match="two consultations"):
        ships(ClusterSums(np.ones((3, 1)), np.ones((3, 1))), "point", generator(1), alpha=0.025)
