"""What the reflector was sent and what it answered, read from the call store of a run.

Opened read-only and beside a campaign that may still be writing; only the two stages whose
messages are kept are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa
import yaml
from sqlalchemy import exc

from heldout.splits.errors import BadInput
from heldout.students.calls import Stage
from heldout.students.database import shown_url
from heldout.students.store_rows import CALLS, StoredCall, call_of

STAGES = (Stage.REFLECT.value, Stage.MERGE.value)


class Reflections(Protocol):
    """Gives the calls behind a proposal."""

    def of(self, iteration: int) -> Sequence[StoredCall]:
        """Calls of the proposal of `iteration`, in order of attempts; empty where none is known."""


class StoredReflections:
    """Reflector calls of run `run_id` in the store at `url`.

    Raises BadInput where `url` is no address of a store.
    """

    def __init__(self, url: str, run_id: str) -> None:
        self._run_id, self._url = run_id, url
        self._name = shown_url(url)
        try:
            sa.make_url(url).get_dialect()
        except (exc.ArgumentError, exc.NoSuchModuleError, ImportError) as error:
            raise BadInput.one("store.url", f"not a database that can be used: {error}") from error

    def of(self, iteration: int) -> Sequence[StoredCall]:
        """See Reflections. Raises BadInput where the database cannot be read."""
        wanted = (
            sa.select(CALLS)
            .where(
                CALLS.c.run_id == self._run_id,
                CALLS.c.stage.in_(STAGES),
                CALLS.c.item == f"i{iteration:03d}",
            )
            .order_by(CALLS.c.id)
        )
        try:
            engine = sa.create_engine(_read_only(self._url), poolclass=sa.pool.NullPool)
            with engine.connect() as connection:
                rows = connection.execute(wanted).mappings().all()
        except exc.DBAPIError as error:
            raise BadInput.one(f"store.url {self._name}", str(error.orig)) from error
        return [call_of(dict(row)) for row in rows]


class NoReflections:
    """Stands where a run's call store is not at hand."""

    def of(self, iteration: int) -> Sequence[StoredCall]:
        """Nothing."""
        del iteration
        return ()


def reflections_of(run_dir: Path, run_id: str) -> Reflections:
    """The reflector calls of the run in `run_dir`; none where its call store is gone."""
    url = store_url(run_dir)
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).is_file():
        return NoReflections()
    return StoredReflections(url, run_id)


def store_url(run_dir: Path) -> str:
    """Address of a run's call store: the configured one, else the file in the run directory."""
    config = run_dir / "config.yaml"
    tree = yaml.safe_load(config.read_text("utf-8")) if config.is_file() else None
    store = (tree or {}).get("store") or {}
    return str(store.get("url") or f"sqlite:///{run_dir.resolve() / 'calls.sqlite'}")


def _read_only(url: str) -> str:
    """A SQLite file opened so that nothing is written beside it, other databases as they are.

    A log means that somebody is writing; without one the file stands still.
    """
    path = url.removeprefix("sqlite:///")
    if path == url:
        return url
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    return f"sqlite:///file:{path}?{mode}&uri=true"
