import numpy as np
import pytest
from tests.support.published import needs_data, published
from tests.support.score_tables import build

from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.tests.exact import (
    McNemarTest,
    SignTest,
    exact_sign,
    mcnemar_tests,
    sign_tests,
    two_proportion_z,
)

ORACLES = published("oracles.json")


@needs_data
@pytest.mark.parametrize("row", ORACLES.get("exact_two_sided_sign_or_mcnemar", []), ids=str)
def test_exact_p_reproduces_the_published_ones(row):
    assert round(exact_sign(row["wins"], row["losses"]).p, 5) == row["p"]
    assert exact_sign(row["losses"], row["wins"]).p == exact_sign(row["wins"], row["losses"]).p


@needs_data
@pytest.mark.parametrize("row", ORACLES.get("pooled_two_proportion_z", []), ids=str)
def test_z_reproduces_the_published_ones(row):
    found = two_proportion_z(Count(row["k1"], row["n1"]), Count(row["k2"], row["n2"]))
    assert round(found, 2) == row["z"]


def test_no_discordant_pair_is_no_evidence():
    assert exact_sign(0, 0) == SignTest(0, 0, 1.0)


def test_z_without_variance_or_cases_is_na():
    assert two_proportion_z(Count(0, 5), Count(0, 4)) is None
    assert two_proportion_z(Count(5, 5), Count(4, 4)) is None
    assert two_proportion_z(Count(0, 0), Count(0, 4)) is None


def test_pairs_of_one_consultation_count_once_when_collapsed():
    ours = build((9, [("omit", 8)] * 5), (9, [("omit", 9.5)]), (9, [("omit", 8), ("omit", 9.5)]))
    theirs = build((9, [("omit", 9)] * 5), (9, [("omit", 9)]), (9, [("omit", 9), ("omit", 9)]))
    found = sign_tests(difference(ours, theirs))
    assert (found.wins, found.losses) == (6, 2)
    assert (found.by_consultation.wins, found.by_consultation.losses) == (1, 1)
    assert sign_tests(difference(build((9, [("add", 1)])), build((9, [("add", 1)])))).p == 1


def test_mcnemar_counts_flags_of_one_side_only():
    candidate = np.array([True, True, True, False, True])
    baseline = np.array([False, False, True, True, True])
    found = mcnemar_tests(candidate, baseline, np.array([0, 0, 0, 1, 1]))
    assert (found.candidate_only, found.baseline_only, found.p) == (2, 1, 1.0)
    assert found.by_consultation == McNemarTest(1, 1, 1.0)
    nothing = np.array([], dtype=bool)
    assert mcnemar_tests(nothing, nothing, np.array([], dtype=int)).p == 1
