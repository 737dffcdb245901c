"""Every shipped configuration with simulated models and made notes, on a small scale.

`python -m tests.benchmarks.own_rule` does the same at their full size.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.benchmarks.own_rule import CONFIGS, simulated

from heldout.experiments.campaigns.redecide import redecide
from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions

pytestmark = pytest.mark.campaign

SMALL = (
    "benchmark.synthetic.consultations=16",
    "search.iterations=3",
    "search.minibatch_consultations=2",
    "gate.pre_gate=off",
    "confirm.samples=2",
    "tracking.enabled=false",
)


def test_the_shipped_simulated_campaigns_are_these() -> None:
    assert set(simulated()) >= {"quickstart.yaml", "placebo.yaml", "study/second.yaml"}
    assert len(simulated()) >= 6


@pytest.mark.parametrize("name", simulated())
def test_a_run_under_its_own_rule_is_decided_as_it_was(name: str, tmp_path: Path) -> None:
    options = RunOptions(quiet=True)
    run = tmp_path / "run"
    ended = start(prepare(CONFIGS / name, SMALL, run, options), run, options)
    gate = ended.run.gate
    if gate.heldout is None:
        assert gate.reason == "seed_won"
        return
    again = redecide(run, gate.rule)
    for key in ("decision", "reason", "sentence", "finding", "winner_minus_baseline"):
        assert again[key] == getattr(gate, key)
    assert again["usable"]["usable"] == gate.usable.usable
    assert again["difference"]["low"] == gate.difference.low
