"""The call store: every model call once.

SQLite beside the run by default, another database by URL. A call that `put` returned survives the
death of the process; after `sync` it survives a power cut as well. The memo of a run is its own
calls; calls of other runs are used only where the reuse mode says so.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import exc

from heldout.splits.errors import BadInput, StoreUnavailable
from heldout.students.calls import CallSpec
from heldout.students.chat import ChatReply
from heldout.students.store_rows import (
    CALLS,
    INSERT,
    METADATA,
    Row,
    StoredCall,
    call_of,
    calls_digest,
    row_of,
)

BUSY_S = 10.0
"""How long a write waits for another process that holds the SQLite file."""


class Reuse(StrEnum):
    """What a run does with calls that OTHER runs bought; its own are always used."""

    OFF = "off"
    READ_WRITE = "read-write"
    REPLAY = "replay"


class CallStore:
    """The calls of the run `run_id` in the database at `url`.

    One process at a time works on a run. Safe to use from several threads. Raises BadInput where
    the database cannot be opened or written, StoreUnavailable where it fails later.
    """

    def __init__(self, url: str, run_id: str, reuse: Reuse | str = Reuse.OFF) -> None:
        self.run_id = run_id
        self.reuse = Reuse(reuse)
        self.name = shown_url(url)
        self._lock = threading.Lock()
        self._dirty = False
        self._memo: dict[str, StoredCall] = {}
        try:
            self._connection = _connect(url)
            self._path = _sqlite_path(self._connection)
            METADATA.create_all(self._connection)
            own = sa.select(CALLS).where(CALLS.c.run_id == run_id).order_by(CALLS.c.id)
            for row in self._connection.execute(own).mappings():
                self._memo[row["key"]] = call_of(dict(row))
        except exc.DBAPIError as error:
            raise BadInput.one(f"store.url {self.name}", _reason(error)) from error
        except (exc.ArgumentError, exc.NoSuchModuleError, ImportError) as error:
            raise BadInput.one("store.url", f"not a database that can be used: {error}") from error
        if self._path is not None:
            _sync_folder(self._path.parent)

    def __len__(self) -> int:
        """Calls this run holds."""
        return len(self._memo)

    def get(self, key: str) -> StoredCall | None:
        """The call with this key: this run's own, else another run's where the mode allows it.

        A call taken from another run is copied to this one with `origin` set, so that the run can
        be resumed and checked alone.
        """
        own = self._memo.get(key)
        if own is not None or self.reuse is Reuse.OFF:
            return own
        other = sa.select(CALLS).where(CALLS.c.key == key).order_by(CALLS.c.id).limit(1)
        with self._writing():
            row = self._connection.execute(other).mappings().first()
        return None if row is None else self._adopt(dict(row))

    def put(
        self, spec: CallSpec, reply: ChatReply, *, latency_s: float = 0.0, elapsed_s: float = 0.0
    ) -> StoredCall:
        """Store the reply to `spec`; on return it survives a kill. The first reply stays.

        Raises StoreUnavailable when the database takes no write.
        """
        known = self._memo.get(spec.key)
        if known is not None:
            return known
        return self._insert(row_of(self.run_id, spec, reply, (latency_s, elapsed_s)))

    def calls(self) -> Iterator[StoredCall]:
        """This run's calls, in the order in which they were stored."""
        return iter(list(self._memo.values()))

    def digest(self, keys: Iterable[str]) -> str:
        """One hash for the calls behind an evaluation. Raises KeyError for a call not stored."""
        return calls_digest(self._memo[key] for key in keys)

    def raw(self, key: str) -> str | None:
        """What the provider sent, word for word; None for a call this run does not hold."""
        own = sa.select(CALLS.c.raw).where(CALLS.c.run_id == self.run_id, CALLS.c.key == key)
        with self._writing():
            return self._connection.execute(own).scalar()

    def sync(self) -> None:
        """Make everything put so far survive a power cut; called before a journal event.

        SQLite's log is only flushed at checkpoints, so it is flushed here; a server database has
        flushed at every commit.
        """
        if not self._dirty or self._path is None:
            return
        try:
            handle = os.open(f"{self._path}-wal", os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise StoreUnavailable(self.name, error.strerror or str(error)) from error
        self._dirty = False

    def close(self) -> None:
        """Flush and let go of the database; closing twice is allowed."""
        if not self._connection.closed:
            self.sync()
            self._connection.close()
            self._connection.engine.dispose()

    def _adopt(self, row: Row) -> StoredCall:
        copy = {name: value for name, value in row.items() if name != "id"}
        return self._insert(
            {**copy, "run_id": self.run_id, "origin": row["origin"] or row["run_id"]}
        )

    def _insert(self, row: Row) -> StoredCall:
        with self._writing():
            self._connection.execute(INSERT, row)
            self._dirty = True
        stored = self._memo[row["key"]] = call_of(row)
        return stored

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except exc.DBAPIError as error:
                self._connection.rollback()
                raise StoreUnavailable(self.name, _reason(error)) from error


def shown_url(url: str) -> str:
    """`url` without its password, fit for a message or a journal."""
    try:
        return sa.make_url(url).render_as_string(hide_password=True)
    except exc.ArgumentError:
        return "(not a URL)"


def _connect(url: str) -> sa.Connection:
    sqlite = url.startswith("sqlite")
    arguments = {"timeout": BUSY_S, "check_same_thread": False} if sqlite else {}
    engine = sa.create_engine(
        url, connect_args=arguments, poolclass=sa.pool.StaticPool, isolation_level="AUTOCOMMIT"
    )
    connection = engine.connect()
    if sqlite:
        # WAL with NORMAL: a commit reaches the log file at once, its flush to disk is `sync`'s.
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        connection.exec_driver_sql("PRAGMA synchronous=NORMAL")
        # A file that may only be read is refused now, not at the first reply that was paid for.
        connection.exec_driver_sql("PRAGMA user_version=1")
    return connection


def _sqlite_path(connection: sa.Connection) -> Path | None:
    """The database file; None for a database in memory or on a server."""
    if connection.dialect.name != "sqlite":
        return None
    file = connection.exec_driver_sql("PRAGMA database_list").one()[2]
    return Path(file) if file else None


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


HINTS = {
    "full": "the disk is full; free some space",
    "locked": "another process holds the database; end it first",
    "readonly": "the database or its folder is read-only",
    "unable to open": "the folder does not exist or may not be written to",
    "disk I/O": "the disk reports an error",
    "not a database": "the file is no SQLite database",
    "malformed": "the file is damaged; restore it from a copy or an export",
}


def _reason(error: exc.DBAPIError) -> str:
    said = " ".join(str(error.orig).split())
    hint = next((hint for sign, hint in HINTS.items() if sign in said), None)
    return f"{hint} ({said})" if hint else said
