"""The published figures; tests that need them skip, saying so, where they are not at hand."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from heldout.experiments.analysis.score_files import read_scores, score_tables
from heldout.gepa.statistics.table import ScoreTable

DATA = os.environ.get("HELDOUT_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="HELDOUT_DATA does not name the published figures")

CANDIDATES = ("seed_check_binary", *(f"v3p-{n:02d}" for n in range(1, 9)))


@cache
def published(name: str) -> Any:
    """One JSON file under HELDOUT_DATA; an empty object at collection time without it."""
    path = Path(DATA) / name
    return json.loads(path.read_text()) if DATA else {}


@cache
def scores(name: str) -> ScoreTable:
    """The score table of one candidate of the published campaign (`NAME` or `NAME@heldout`)."""
    file = read_scores(f"{Path(DATA) / 'published' / 'pipeline_campaign.json'}#{name}")
    return score_tables(file, file)[0]
