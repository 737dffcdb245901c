import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa
from tests.support.published import needs_data, published

from heldout.gepa.statistics.agreement.kappa import cohen_kappa, kappa_interval
from heldout.gepa.statistics.intervals.resampling import generator


@needs_data
@pytest.mark.parametrize("row", published("oracles.json").get("cohen_kappa", []), ids=str)
def test_kappa_reproduces_the_published_ones(row):
    found = cohen_kappa(np.array(row["confusion"]), weights=row["weights"])
    assert round(found.value, 2) == row["kappa"]
    if "observed" in row:
        assert round(found.observed, 3) == row["observed"]
        assert round(found.expected, 3) == row["expected"]


@pytest.mark.parametrize(("weights", "theirs"), [(None, None), ("linear", "linear")])
def test_kappa_is_that_of_statsmodels(weights, theirs):
    table = np.array([[12, 3, 1], [2, 20, 4], [0, 5, 9]])
    found = cohen_kappa(table, weights=weights)
    assert found.value == pytest.approx(cohens_kappa(table, wt=theirs, return_results=False))
    assert found.n == 56


def test_one_category_leaves_kappa_undefined():
    assert cohen_kappa(np.array([[9, 0], [0, 0]])).value is None
    assert kappa_interval([np.array([[9, 0], [0, 0]])], generator(1)) is None
    with pytest.raises(ValueError, match="square"):
        cohen_kappa(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="square"):
        cohen_kappa(np.ones((2, 3)))


def test_the_interval_follows_the_consultations():
    agree, differ = np.array([[3, 0], [0, 3]]), np.array([[1, 2], [2, 1]])
    tables = [agree] * 6 + [differ] * 4
    found = kappa_interval(tables, generator(1), resamples=2_000)
    assert found.low < found.estimate < found.high <= 1
    narrow = kappa_interval([agree] * 60 + [differ] * 40, generator(1), resamples=2_000)
    assert narrow.high - narrow.low < (found.high - found.low) / 2
    same = kappa_interval([agree] * 4, generator(1), resamples=100)
    assert same.low < same.high == 1  # four that agree do not show that all do
