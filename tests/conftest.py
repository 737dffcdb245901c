"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_OFFLINE_MODE", "True")
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("DO_NOT_TRACK", "true")


# A first example may import SciPy, and a machine may be busy: properties are not about time.
settings.register_profile("heldout", deadline=None)
settings.load_profile("heldout")


@pytest.fixture
def data_folder() -> Path:
    """The folder of shared data; the test is skipped where HELDOUT_DATA does not name one."""
    named = os.environ.get("HELDOUT_DATA")
    if not named:
        pytest.skip("HELDOUT_DATA does not name the folder of the shared data")
    return Path(named)
