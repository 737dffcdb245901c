"""The table of a soak: rates beside what the spread of differences predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy.stats import norm
from tests.soak.jobs import Job
from tests.soak.table import predicted_pass, write_table

MADE_WITH = {
    "commit": "c" * 40,
    "dirty": [],
    "source_sha256": "5" * 64,
    "versions": {"python": "3.11"},
}


def result(
    gap: float | None, decision: str = "emitted", reason: str | None = None
) -> dict[str, Any]:
    difference = None if gap is None else {"estimate": gap, "low": gap - 0.1, "high": gap + 0.1}
    return {
        "decision": decision,
        "reason": reason,
        "difference": difference,
        "inventory": True,
        "own_wording": True,
        "wall_s": 1.0,
    }


def test_the_prediction_is_the_normal_tail_of_the_spread() -> None:
    # Mean 0.2, standard deviation 0.1, half-width 0.1: one standard deviation above it.
    results = [result(0.1), result(0.2), result(0.3)]
    assert predicted_pass(results) == pytest.approx(norm.cdf(1.0))


def test_campaigns_that_bought_no_look_pass_nothing() -> None:
    looked = [result(0.1), result(0.2), result(0.3)]
    idle = [result(None, "not_confirmed", "seed_won")] * 3
    assert predicted_pass([*looked, *idle]) == pytest.approx(norm.cdf(1.0) / 2)
    assert predicted_pass(idle) is None


def test_the_page_keeps_the_rule_and_the_side_conditions_apart(tmp_path: Path) -> None:
    results = [result(0.3), result(0.4), result(0.5, "refused", "side:false_alarms")]
    jobs = [Job("emission", {"effect": 1.0, "seed": seed}) for seed in range(3)]
    page = tmp_path / "soak.md"
    write_table(list(zip(jobs, results, strict=True)), MADE_WITH, page)
    row = next(line for line in page.read_text().splitlines() if line.startswith("| 1 |"))
    assert "3 of 3 = 1.000" in row
    assert "2 of 3 = 0.667" in row
    assert "1 refused (side:false_alarms)" in row
    assert "simulated" in page.read_text()
