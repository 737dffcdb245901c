import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from tests.support.published import needs_data, published

from heldout.gepa.statistics.intervals.interval import (
    ClusterSums,
    cluster_t,
    cluster_wilson,
    exact_bound,
    unseen_share,
    wilson,
)
from heldout.gepa.statistics.rates.counts import Count

values_and_clusters = st.lists(
    st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.integers(0, 6)),
    min_size=1,
    max_size=40,
)


@needs_data
@pytest.mark.parametrize("row", published("oracles.json").get("wilson_95_percent", []), ids=str)
def test_wilson_reproduces_the_published_bounds(row):
    found = wilson(Count(row["k"], row["n"]))
    assert round(100 * found.low, 1) == row["low"]
    assert round(100 * found.high, 1) == row["high"]
    assert found.low <= found.estimate <= found.high


def test_wilson_of_nothing_is_na():
    assert wilson(Count(0, 0)) is None


def test_the_t_interval_is_that_of_a_clustered_regression_on_a_constant():
    rng = np.random.default_rng(5)
    cluster = np.sort(rng.integers(0, 12, 60))
    values = rng.choice([-1, -0.5, 0, 0.5, 1], 60) + 0.1
    fit = sm.OLS(values, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True
    )
    found = cluster_t(values, cluster)
    assert found.estimate == pytest.approx(fit.params[0])
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[0]))


def test_the_standard_error_written_out():
    values, cluster = np.array([1.0, 0.0, 0.5, -1.0, 0.5]), np.array([0, 0, 1, 2, 2])
    mean = 1.0 / 5
    residuals = [1 - 2 * mean, 0.5 - mean, -0.5 - 2 * mean]
    expected = (sum(r * r for r in residuals) * 3 / 2) ** 0.5 / 5
    assert float(ClusterSums.of(values, cluster).standard_error) == pytest.approx(expected)


@given(values_and_clusters, st.sampled_from([0.8, 0.95, 0.99]))
def test_intervals_stay_in_the_range_and_hold_the_estimate(pairs, level):
    values, cluster = (np.array(column) for column in zip(*pairs, strict=True))
    found = cluster_t(values, cluster, level=level)
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    share = cluster_wilson((values + 1) / 2, cluster, level=level)
    assert 0 <= share.low <= share.estimate <= share.high <= 1
    assert share.high - share.low > 0.001
    mirrored = cluster_wilson((1 - values) / 2, cluster, level=level)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - share.high, 1 - share.low))


@given(values_and_clusters)
def test_turning_the_values_round_turns_the_interval_round(pairs):
    values, cluster = (np.array(column) for column in zip(*pairs, strict=True))
    there, back = cluster_t(values, cluster), cluster_t(-values, cluster)
    assert (back.estimate, back.low, back.high) == pytest.approx(
        (-there.estimate, -there.high, -there.low)
    )


def test_one_consultation_excludes_nothing():
    found = cluster_t(np.array([1.0, 1.0, 0.5]), np.zeros(3, dtype=int))
    assert (found.low, found.high) == (-1, 1)
    assert not found.known
    assert not cluster_wilson(np.array([1.0, 0.5]), np.zeros(2, dtype=int)).known
    assert cluster_t(np.array([]), np.array([], dtype=int)) is None


def test_no_spread_is_not_certainty():
    # Twelve equal consultations leave room for a share q of others with (1 - q)**12 = 0.025.
    found = cluster_t(np.zeros(12), np.arange(12))
    share = 1 - 0.025 ** (1 / 12)
    assert unseen_share(12, 0.025) == pytest.approx(share)
    assert (found.low, found.high) == pytest.approx((-share, share))
    assert found.method == "exact bound (no spread)"
    certain = exact_bound(1.0, 12, level=0.95, bounds=(0.0, 1.0))
    assert (certain.low, certain.high) == pytest.approx((1 - share, 1))


def test_an_interval_prints_as_its_contract_says():
    found = wilson(Count(1, 4), level=0.9).to_json()
    assert set(found) == {"estimate", "low", "high", "level", "method"}
    assert (found["level"], found["method"]) == (0.9, "wilson")
