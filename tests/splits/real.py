"""The folder of real data, which is no part of the repository."""

import os
from pathlib import Path

import pytest


def real(name: str) -> Path:
    """A file of the folder that HELDOUT_DATA names; skips the test where it names none."""
    folder = os.environ.get("HELDOUT_DATA")
    if not folder:
        pytest.skip("HELDOUT_DATA names no folder of real data")
    return Path(folder) / name
