"""The documented example runs, and the documented estimators are the ones that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.house import FOLDERS

from heldout.gepa.gate.rules import all_rules
from heldout.gepa.statistics.declared import DECLARED

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "statistics.md").read_text("utf-8")


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
    for word in ("paired discrimination", "auc", "youden", "kappa", "capture", "ledgers"):
        assert word in described
    assert len(DECLARED) > 15


def test_what_no_command_reaches_is_listed():
    used: set[str] = set()
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                used.update(alias.name for alias in node.names)
            used.add(getattr(node, "id", getattr(node, "attr", "")))
    made = {
        node.name
        for path in (ROOT / "gepa" / "statistics").rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    section = TEXT.partition("### Not reached by a command yet")[2].partition("\n## ")[0]
    assert made - used == set(re.findall(r"^- `(\w+)`", section, re.MULTILINE))
