import pytest
from hypothesis import given
from tests.support.score_tables import build, tables

from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.ranking import auc, youden


@given(tables(max_groups=6))
def test_auc_is_the_share_of_couples_in_order(table):
    errored = [s for s, o in zip(table.scores, table.omission, strict=True) if o and s is not None]
    clean = [s for s, c in zip(table.scores, table.clean, strict=True) if c and s is not None]
    couples = [(e, c) for e in errored for c in clean]
    found = auc(table)
    if couples:
        expected = sum((e < c) + (e == c) / 2 for e, c in couples) / len(couples)
        assert found.value == pytest.approx(expected)
    else:
        assert found.value is None


@given(tables(max_groups=6))
def test_youden_is_the_best_cut_and_the_lowest_of_equals(table):
    found = youden(table)
    m, n = int(table.omission.sum()), int(table.clean.sum())
    counted = table.omission | table.clean
    scored = sorted({s for s, c in zip(table.scores, counted, strict=True) if c and s is not None})
    if found.threshold is None:
        assert not m or not scored
        return
    best = None
    for t in [*scored, scored[-1] + 1]:
        below = [s is not None and s < t for s in table.scores]
        k = sum(b and o for b, o in zip(below, table.omission, strict=True))
        f = sum(b and c for b, c in zip(below, table.clean, strict=True))
        if best is None or k * n - f * m > best[0]:
            best = (k * n - f * m, Count(k, m), Count(f, n))
    assert (found.detection, found.false_alarms) == best[1:]
    assert found.j == pytest.approx(best[0] / (m * n))


def test_one_class_is_na():
    table = build((9, [("add", 8)]))
    assert auc(table).value is None
    assert youden(table).j is None
    assert auc(table, "commission").value == 1
