"""Optimism of a run's winner: the selection part, placebo searches, and what held-out showed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.campaigns import run_small, summary

from heldout.experiments.analysis.overstatement import OptimismReport, optimism_of, optimism_text
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.tests.optimism import OptimismEstimate
from heldout.splits.errors import BadInput


@pytest.mark.campaign
def test_every_estimate_stands_beside_the_others_and_the_run_is_left_alone(tmp_path: Path) -> None:
    ended = run_small(tmp_path, {"gate": {"pre_gate": "off"}, "search": {"iterations": 8}})
    found = summary(ended)
    before = {p: p.read_bytes() for p in ended.run.run_dir.rglob("*") if p.is_file()}
    told: list[str] = []
    report = optimism_of(ended.run.run_dir, 3, told.append)
    assert report.accept == found["accept"]["winner"]["paired_omissions"]
    assert report.selection_lower_bound is not None
    assert report.corrected == report.accept - report.selection_lower_bound.value
    if found["heldout"]:
        assert report.accept_minus_heldout == pytest.approx(
            report.accept - found["heldout"]["winner"]["paired_omissions"]
        )
    assert len(told) == 3
    assert "accept figure of the winner" in optimism_text(report)
    after = {p: p.read_bytes() for p in ended.run.run_dir.rglob("*") if p.is_file()}
    assert before == after


@pytest.mark.campaign
def test_a_run_without_a_winner_has_no_optimism(tmp_path: Path) -> None:
    ended = run_small(tmp_path, {"budget": {"calls": 700}, "search": {"iterations": 40}})
    if summary(ended)["accept"] is not None:
        pytest.skip("the cap was wide enough to find a winner")
    with pytest.raises(BadInput, match="has no winner on accept yet"):
        optimism_of(ended.run.run_dir, 0)


def test_the_figures_stand_side_by_side() -> None:
    part = OptimismEstimate(0.03, 0.01, "best of 2, 200 resamples of consultations")
    report = OptimismReport(0.64, part, 0.61, None, 0.55, 0.09, looks=1)
    assert json.loads(json.dumps(plain(report), allow_nan=False)) == {
        "accept": 0.64,
        "selection_lower_bound": {"value": 0.03, "error": 0.01, "made_from": part.made_from},
        "corrected": 0.61,
        "placebo": None,
        "heldout": 0.55,
        "accept_minus_heldout": 0.09,
        "looks": 1,
        "placebo_is_simulated": True,
    }
    assert "accept minus held-out, as seen:     +0.090" in optimism_text(report)
