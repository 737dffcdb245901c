"""The Python in the practitioner's pages runs, and the figures in them are what the code gives."""

import re
from pathlib import Path

import pytest

from heldout.experiments.practice.promises import Promise, advice

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("judges.md", "applying.md", "budgets.md", "calibration.md", "data.md")
BLOCKS = [
    (name, number, text)
    for name in PAGES
    for number, text in enumerate(
        re.findall(r"```python\n(.*?)```", (DOCS / name).read_text("utf-8"), re.DOTALL)
    )
]


@pytest.mark.parametrize(("name", "number", "text"), BLOCKS, ids=lambda v: str(v)[:20])
def test_examples_run(name, number, text, monkeypatch, capsys):
    monkeypatch.chdir(DOCS.parent)
    exec(compile(text, f"{name}:{number}", "exec"), {"__name__": "example"})


def test_the_table_of_needs_is_what_the_code_gives():
    page = (DOCS / "calibration.md").read_text("utf-8")
    for need in advice(Promise(0.05)):
        row = f"| {need.consultations} | {need.flagged} | {100 * need.expected:.1f}% |"
        assert row in page


def test_simulated_results_are_called_so():
    for name in ("budgets.md", "calibration.md"):
        assert "simulated" in (DOCS / name).read_text("utf-8").lower()
