from dataclasses import replace
from itertools import product

import pytest
from tests.benchmarks.coverage import CONSULTATIONS, TRUTHS, coverage, table_text


@pytest.mark.parametrize(
    ("truth", "consultations", "icc", "law"),
    [
        (0.98, 20, 0.3, "beta"),
        (0.98, 47, 0.1, "copies"),
        (0.95, 20, 0.02, "copies"),
        (0.9, 20, 0.3, "copies"),
        (0.5, 20, 0.3, "beta"),
    ],
)
def test_the_interval_of_one_judge_covers_near_the_end_of_its_range(
    truth: float, consultations: int, icc: float, law: str
) -> None:
    """A t interval cut to the range covers 0.98 in two thirds of such samples of 20."""
    found = coverage(truth, consultations, icc, law, draws=600, seed=2)
    assert 0.91 < found.covers <= 1
    assert found.low_misses < 0.055


def test_the_table_has_the_extremes_of_each_truth() -> None:
    one = coverage(0.5, 20, 0.1, "beta", draws=50, seed=1)
    cells = [
        replace(one, truth=truth, consultations=n, covers=covers)
        for truth, n, covers in product(TRUTHS, CONSULTATIONS, (0.94, 0.97))
    ]
    assert f"| 0.98, 112 | 0.940 | 0.970 | {one.low_misses:.3f} |" in table_text(cells)
