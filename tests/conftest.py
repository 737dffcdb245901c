"""What every test may ask for."""

from __future__ import annotations

import functools
import itertools
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from heldout.splits import synthetic

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_OFFLINE_MODE", "True")
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("DO_NOT_TRACK", "true")
# What runs before a test has a registry of its own (a fixture of a module) goes here.
os.environ["HELDOUT_LOOKS"] = str(Path(tempfile.mkdtemp()) / "looks.jsonl")


# A first example may import SciPy, and a machine may be busy: properties are not about time.
# `--hypothesis-profile thorough` looks longer, after a change of what reads foreign text.
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.register_profile("heldout", deadline=None)
settings.load_profile("heldout")

# Most campaigns here read one of the same few benchmarks: each is drawn once a process. The tests
# of drawing take it from `generate`.
synthetic.draw = functools.lru_cache(maxsize=32)(synthetic.draw)

# No test can cut the power, so none need wait for the disk. That flushing is asked for is tested,
# and a handle that is not open still raises.
os.fsync = os.fstat


_registries = itertools.count()


@pytest.fixture(scope="session")
def registries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the registries of looks of all tests lie."""
    return tmp_path_factory.mktemp("registries")


@pytest.fixture(autouse=True)
def a_registry_of_its_own(registries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test knows of the looks of another one, nor writes beside data that it reads."""
    monkeypatch.setenv("HELDOUT_LOOKS", str(registries / f"{next(_registries)}.jsonl"))


@pytest.fixture
def data_folder() -> Path:
    """The folder of shared data; the test is skipped where HELDOUT_DATA does not name one."""
    named = os.environ.get("HELDOUT_DATA")
    if not named:
        pytest.skip("HELDOUT_DATA does not name the folder of the shared data")
    return Path(named)
