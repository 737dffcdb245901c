"""The files that stand for a whole run."""

from __future__ import annotations

from pathlib import Path

from heldout.experiments.report.text import TextPolicy
from heldout.experiments.report.view import RunView

COPIED = ("journal.jsonl", "gate.json", "config.yaml")
"""Files of the run directory that go along; they hold blocks, but no note and no transcript."""


def run_files(run_dir: Path, view: RunView, policy: TextPolicy) -> dict[str, str]:
    """Artifact path to content for the parent run, under `policy`."""
    files = {}
    if policy is not TextPolicy.NONE:
        for name in COPIED:
            path = run_dir / name
            if path.is_file():
                files[name] = path.read_text("utf-8", "surrogatepass")
    return files
