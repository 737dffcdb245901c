"""Finished campaigns that many tests read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.campaigns import run_small

from heldout.experiments.campaigns.session import SessionResult
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.gepa.record.run import Run


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> SessionResult:
    """The small campaign, finished. Its files are not to be written to."""
    return run_small(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def ended(whole: SessionResult, tmp_path: Path) -> SessionResult:
    """A copy of it in `tmp_path/run`, to do anything with."""
    run = Path(shutil.copytree(whole.files.path, tmp_path / "run"))
    return SessionResult(RunDirectory(run), Run.at(run), None)
