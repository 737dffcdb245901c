"""A run in words: the decision with its reason, and commands that can be typed as they stand."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from heldout.experiments.campaigns.ending import decision_sentence, program


@pytest.mark.parametrize(
    ("decision", "reason", "expected"),
    [
        ("emitted", None, "emitted: held-out data agrees"),
        ("refused", "gate", "refused: the held-out difference does not pass the gate"),
        ("refused", "side:false_alarms", "side condition (false alarms)"),
        ("not_confirmed", "seed_won", "a seed won on accept"),
        (None, None, "no decision yet (stopped)"),
    ],
)
def test_a_decision_comes_with_its_reason(decision, reason, expected) -> None:
    run = SimpleNamespace(decision=decision, reason=reason, status="stopped")
    assert expected in decision_sentence(run)


def test_the_program_is_named_so_that_it_can_be_typed(tmp_path, monkeypatch) -> None:
    on_path = tmp_path / "heldout"
    on_path.write_text("#!/bin/sh\n")
    on_path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == "heldout"
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    beside = Path(sys.executable).with_name("heldout")
    assert program().split(" -m ")[0].endswith(("heldout", Path(sys.executable).name))
    assert beside.exists() == program().endswith("/heldout")
