from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.splits.errors import BadInput
from heldout.splits.partition.manifest import SPLITS, Shares
from heldout.splits.partition.strata import LEAST, hand_out, sizes


@st.composite
def shares(draw):
    parts = [draw(st.integers(1, 50)) for _ in SPLITS]
    return Shares(*(part / sum(parts) for part in parts))


@st.composite
def layouts(draw):
    total = draw(st.integers(12, 90))
    strata = {
        f"s|{n:03d}": (draw(st.sampled_from("abc")), draw(st.booleans())) for n in range(total)
    }
    names, together = sorted(strata), []
    while names and draw(st.booleans()):
        size = draw(st.integers(2, 5))
        together.append(tuple(names[:size]))
        names = names[size:]
    return strata, [group for group in together if len(group) > 1]


def test_the_default_sizes_are_the_studys():
    assert sizes(112, Shares()) == {"reflect": 45, "accept": 20, "heldout": 47}


@given(st.integers(12, 600), shares())
def test_no_split_is_under_its_least_and_none_is_lost(total, wanted):
    count = sizes(total, wanted)
    assert sum(count.values()) == total
    assert all(count[name] >= LEAST[name] for name in SPLITS)


@pytest.mark.parametrize("total", [0, 1, 11])
def test_too_few_names_the_minimum(total):
    with pytest.raises(BadInput, match=r"the minimum is 12 \(2 reflect, 4 accept, 6 heldout\)"):
        sizes(total, Shares())


@given(layouts(), st.integers(0, 10**6))
def test_groups_stay_together_and_sizes_hold_where_groups_fit(layout, seed):
    strata, together = layout
    count = sizes(len(strata), Shares())
    placed = hand_out(strata, together, count, seed)
    assert placed.keys() == strata.keys()
    for group in together:
        assert len({placed[name] for name in group}) == 1
    found = Counter(placed.values())
    if not together:
        assert all(found[name] == count[name] for name in SPLITS)
    else:
        assert all(abs(found[name] - count[name]) <= 4 * len(together) for name in SPLITS)


@given(layouts(), st.integers(0, 10**6))
def test_every_stratum_gets_its_share_of_each_split(layout, seed):
    strata, _ = layout
    count = sizes(len(strata), Shares())
    placed = hand_out(strata, [], count, seed)
    for stratum, members in Counter(strata.values()).items():
        for split in SPLITS:
            found = sum(placed[n] == split for n in strata if strata[n] == stratum)
            assert abs(found - members * count[split] / len(strata)) < 2


def test_another_seed_draws_another_partition():
    strata = {f"s|{n}": ("a", True) for n in range(30)}
    count = sizes(30, Shares())
    drawn = {tuple(sorted(hand_out(strata, [], count, seed).items())) for seed in range(20)}
    assert len(drawn) == 20


def test_each_consultation_is_held_out_as_often_as_its_share():
    strata = {f"s|{n}": ("a", n % 2 == 0) for n in range(20)}
    count = sizes(20, Shares())
    together = [("s|0", "s|1"), ("s|2", "s|3", "s|4")]
    drawn = [hand_out(strata, together, count, seed) for seed in range(600)]
    for name in strata:
        rate = sum(placed[name] == "heldout" for placed in drawn) / len(drawn)
        assert abs(rate - count["heldout"] / 20) < 0.08
