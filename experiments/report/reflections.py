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
from heldout.students.calls.call import Stage
from heldout.students.calls.database import read_only, shown_url
from heldout.students.calls.store_rows import CALLS, COLUMNS, StoredCall

_STAGES = ", ".join(f"'{stage.value}'" for stage in (Stage.REFLECT, Stage.MERGE))
# As text, because it is asked once a candidate and building it costs more than running it.
_SINCE = sa.text(
    f"SELECT * FROM {CALLS.name} WHERE run_id = :run AND stage IN ({_STAGES}) AND id > :newest "
    "ORDER BY id"
)


class Reflections(Protocol):
    """Gives the calls behind a proposal."""

    def of(self, iteration: int) -> Sequence[StoredCall]:
        """Calls of the proposal of `iteration`, in order of attempts; empty where none is known."""


class StoredReflections:
    """Reflector calls of run `run_id` in the store at `url`, read in as few queries as it takes.

    Raises BadInput where `url` is no address of a store.
    """

    def __init__(self, url: str, run_id: str) -> None:
        self._run_id, self._url = run_id, url
        self._name = shown_url(url)
        self._calls: dict[str, list[StoredCall]] = {}
        self._newest = self._asked = -1
        try:
            sa.make_url(url).get_dialect()
        except (exc.ArgumentError, exc.NoSuchModuleError, ImportError) as error:
            raise BadInput.one("store.url", f"not a database that can be used: {error}") from error

    def of(self, iteration: int) -> Sequence[StoredCall]:
        """See Reflections. Raises BadInput where the database cannot be read."""
        # A proposal is whole once it is asked for; calls of the next one may still be on their way.
        if iteration > self._asked:
            self._read_on()
            self._asked = iteration
        return self._calls.get(f"i{iteration:03d}", ())

    def _read_on(self) -> None:
        """Take in the calls stored since the last time."""
        try:
            engine = sa.create_engine(read_only(self._url), poolclass=sa.pool.NullPool)
            with engine.connect() as connection:
                since = {"run": self._run_id, "newest": self._newest}
                rows = connection.execute(_SINCE, since).all()
        except exc.DBAPIError as error:
            raise BadInput.one(f"store.url {self._name}", str(error.orig)) from error
        for row in rows:
            self._newest = row.id
            call = StoredCall(**{name: getattr(row, name) for name in COLUMNS})
            self._calls.setdefault(call.item, []).append(call)


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
