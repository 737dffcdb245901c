"""Optimism of a run's winner: the selection part, placebo searches, and what held-out showed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.campaigns import run_small, summary

from heldout.experiments.analysis.overstatement import described, optimism_of, optimism_text
from heldout.splits.errors import BadInput

pytestmark = pytest.mark.campaign


def test_every_estimate_stands_beside_the_others_and_the_run_is_left_alone(tmp_path: Path) -> None:
    ended = run_small(tmp_path, {"gate": {"pre_gate": "off"}, "search": {"iterations": 8}})
    found = summary(ended)
    before = {p: p.read_bytes() for p in ended.files.path.rglob("*") if p.is_file()}
    told: list[str] = []
    report = optimism_of(ended.files.path, 3, told.append)
    assert report.accept == found["accept"]["winner"]["paired_omissions"]
    assert report.corrected == report.accept - report.selection.value
    if found["heldout"]:
        assert report.seen == pytest.approx(
            report.accept - found["heldout"]["winner"]["paired_omissions"]
        )
    assert len(told) == 3
    assert described(report)["placebo_is_simulated"] is True
    assert "accept figure of the winner" in optimism_text(report)
    after = {p: p.read_bytes() for p in ended.files.path.rglob("*") if p.is_file()}
    assert before == after


def test_a_run_without_a_winner_has_no_optimism(tmp_path: Path) -> None:
    ended = run_small(tmp_path, {"budget": {"calls": 700}, "search": {"iterations": 40}})
    if summary(ended)["accept"] is not None:
        pytest.skip("the cap was wide enough to find a winner")
    with pytest.raises(BadInput, match="has no winner on accept yet"):
        optimism_of(ended.files.path, 0)
