import pytest

from heldout.gepa.statistics.agreement.couples import Couple, couple_contrasts
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.tests.exact import holm
from heldout.splits.benchmark import TraceLevel

COMPLETE, WEAK, STRONG = TraceLevel.COMPLETE, TraceLevel.PARTIAL_WEAK, TraceLevel.PARTIAL_STRONG


def test_contrasts_are_within_the_fact_and_adjusted_together():
    flags, couples = {}, []
    for i in range(10):
        for contrast, first, second in (
            ((COMPLETE, STRONG), i < 8, False),
            ((COMPLETE, WEAK), i < 4, i < 3),
        ):
            names = f"{contrast}{i}a", f"{contrast}{i}b"
            flags.update(zip(names, (first, second), strict=True))
            couples.append(Couple(contrast, *names))
    strong, weak = couple_contrasts(couples, flags)
    assert (strong.first, strong.second) == (Count(8, 10), Count(0, 10))
    assert (strong.test.wins, strong.test.losses) == (8, 0)
    assert strong.test.p == pytest.approx(2 / 256)
    assert strong.adjusted.adjusted == pytest.approx(4 / 256)
    assert strong.adjusted.rejected
    assert (weak.test.wins, weak.test.losses, weak.test.p) == (1, 0, 1)
    assert not weak.adjusted.rejected


def test_holm_written_out():
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03}, alpha=0.05)
    assert [found[name].adjusted for name in "abc"] == pytest.approx([0.03, 0.06, 0.06])
    assert [found[name].rejected for name in "abc"] == [True, False, False]
    assert holm({}, alpha=0.05) == {}
    assert couple_contrasts([], {}) == ()
