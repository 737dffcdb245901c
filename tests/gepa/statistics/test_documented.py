"""The documented example runs, and the documented estimators are the ones that exist."""

from __future__ import annotations

import re
from pathlib import Path

from heldout.gepa.gate.rules import all_rules
from heldout.gepa.statistics.declared import DECLARED

TEXT = (Path(__file__).parents[3] / "docs" / "statistics.md").read_text("utf-8")


def test_the_example_runs():
    examples = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(examples) == 1
    exec(compile(examples[0], "docs/statistics.md", "exec"), {})


def test_every_rule_is_described():
    for name in all_rules(seed=1):
        assert f"| `{name}`" in TEXT


def test_no_place_is_left_open():
    assert not re.search(r"\b[A-Z]+_(TABLE|20|47|112)\b|\bSPEED\b", TEXT)


def test_declared_measures_are_described():
    described = TEXT.lower()
    for word in ("paired discrimination", "auc", "youden", "kappa", "pass^k", "coverage"):
        assert word in described
    assert len(DECLARED) > 15
