"""Runs that several tests read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.made_runs import Plan, make_run


@pytest.fixture(scope="session")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five hundred candidates with long reflector prompts. Its journal is not to be written to."""
    plan = Plan(iterations=498, consultations=24, clinical="x " * 5_000)
    return make_run(tmp_path_factory.mktemp("long") / "run", plan)
