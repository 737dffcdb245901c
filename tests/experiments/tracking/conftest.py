"""Tracking stores for tests: a fresh SQLite database each, copied from one that is set up once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.made_runs import Plan, make_run
from tests.support.stores import Store

from heldout.experiments.tracking import TrackingSettings, sync
from heldout.experiments.tracking.client import TrackingClient


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with MLflow's tables and an unrelated experiment; making one takes seconds."""
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    TrackingClient(TrackingSettings(f"sqlite:///{path}", "unrelated"))
    return path


@pytest.fixture
def store(empty_database: Path, tmp_path: Path) -> Store:
    """An empty store of its own."""
    return _store(empty_database, tmp_path / "mlruns")


@pytest.fixture
def other_store(empty_database: Path, tmp_path: Path) -> Store:
    """A second one."""
    return _store(empty_database, tmp_path / "other")


def _store(empty_database: Path, folder: Path) -> Store:
    folder.mkdir(exist_ok=True)
    shutil.copy(empty_database, folder / "mlflow.db")
    return Store(f"sqlite:///{folder / 'mlflow.db'}")


@pytest.fixture(scope="session")
def emitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that has emitted a prompt. Not to be written to."""
    return make_run(tmp_path_factory.mktemp("emitted") / "run", Plan(iterations=6))


@pytest.fixture(scope="session")
def synced(
    emitted: Path, empty_database: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Store]:
    """The emitted run and a store that holds it. Neither is to be written to."""
    store = _store(empty_database, tmp_path_factory.mktemp("synced"))
    sync(emitted, store.uri)
    return emitted, store


@pytest.fixture
def run(emitted: Path, tmp_path: Path) -> Path:
    """A copy of the emitted run."""
    return Path(shutil.copytree(emitted, tmp_path / "run"))
