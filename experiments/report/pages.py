"""The files that stand for a whole run."""

from __future__ import annotations

from pathlib import Path

from heldout.experiments.report.contents import report_of
from heldout.experiments.report.render import page, render
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.report.view import RunView, read_view

COPIED = ("journal.jsonl", "gate.json", "config.yaml")
"""Files of the run directory that go along; they hold blocks, but no note and no transcript."""


def write_report(run_dir: Path) -> Path:
    """Write `report.html` and `report.md` into the run directory; returns the first.

    From the journal alone. Raises BadInput where there is no journal, JournalBroken where its
    chain does not hold.
    """
    for name, text in report_files(read_view(run_dir), TextPolicy.FULL).items():
        part = run_dir / f"{name}.part"
        part.write_text(text, encoding="utf-8", errors="replace")
        part.replace(run_dir / name)
    return run_dir / "report.html"


def report_files(view: RunView, policy: TextPolicy) -> dict[str, str]:
    """The report as a page and as Markdown."""
    report = report_of(view, policy)
    return {
        "report.html": page("report.html.j2", report=report),
        "report.md": render("report.md.j2", report=report),
    }


def run_files(run_dir: Path, view: RunView, policy: TextPolicy) -> dict[str, str]:
    """Artifact path to content for the parent run, under `policy`."""
    files = report_files(view, policy)
    if policy is not TextPolicy.NONE:
        for name in COPIED:
            path = run_dir / name
            if path.is_file():
                files[name] = path.read_text("utf-8", "surrogatepass")
    return files
