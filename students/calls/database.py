"""The connection behind the call store: SQLite beside the run, or a server by URL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import exc

from heldout.splits.errors import BadInput, StoreUnavailable

BUSY_S = 10.0
"""How long a write waits for another process that holds the SQLite file."""

HINTS = {
    "full": "the disk is full; free some space",
    "locked": "another process holds the database; end it first",
    "readonly": "the database or its folder is read-only",
    "unable to open": "the folder does not exist or may not be written to",
    "disk I/O": "the disk reports an error",
    "not a database": "the file is no SQLite database",
    "malformed": "the file is damaged; restore it from a copy or an export",
    "connection to server": "the database server does not answer",
    "server closed the connection": "the database server went away",
}


def shown_url(url: str) -> str:
    """`url` without its password, fit for a message or a journal."""
    try:
        return sa.make_url(url).render_as_string(hide_password=True)
    except exc.ArgumentError:
        return "(not a URL)"


def has_password(url: str) -> bool:
    """True if the address itself holds a password, which would be written down with it."""
    try:
        return sa.make_url(url).password is not None
    except exc.ArgumentError:
        return False


def connect(url: str) -> sa.Connection:
    """One connection on which every statement is its own transaction.

    A commit reaches SQLite's log file at once; flushing that file is left to `flush`. Raises what
    `opening` turns into BadInput.
    """
    sqlite = url.startswith("sqlite")
    if sqlite:
        _make_file(sa.make_url(url).database)
    arguments = {"timeout": BUSY_S, "check_same_thread": False} if sqlite else {}
    engine = sa.create_engine(
        url, connect_args=arguments, poolclass=sa.pool.StaticPool, isolation_level="AUTOCOMMIT"
    )
    connection = engine.connect()
    if sqlite:
        mode = connection.exec_driver_sql("PRAGMA journal_mode=WAL").scalar()
        # Some network file systems have no shared memory for a log: there every commit flushes.
        level = "NORMAL" if mode == "wal" else "FULL"
        connection.exec_driver_sql(f"PRAGMA synchronous={level}")
        # A file that may only be read is refused now, not at the first reply that was paid for.
        connection.exec_driver_sql("PRAGMA user_version=1")
    return connection


def _make_file(path: str | None) -> None:
    """Make the file of a database as every other file is made; SQLite would fix its mode."""
    if path and path != ":memory:" and not path.startswith("file:"):
        with suppress(OSError):  # SQLite says what is wrong with the place
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))


def read_only(url: str) -> str:
    """The same store, opened so that nothing is written in it or beside it.

    SQLite keeps a log while somebody is writing; a file without one stands still.
    """
    path = url.removeprefix("sqlite:///")
    if path == url:
        return url
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    return f"sqlite:///file:{path}?{mode}&uri=true"


def create_tables(connection: sa.Connection, tables: sa.MetaData) -> None:
    """Make what is missing; another process may be doing the same, and one of the two fails."""
    for _ in tables.tables:
        try:
            tables.create_all(connection)
        except (exc.IntegrityError, exc.OperationalError, exc.ProgrammingError):
            connection.rollback()
        else:
            return
    tables.create_all(connection)


def log_file(connection: sa.Connection) -> Path | None:
    """SQLite's log, which holds commits not flushed yet; None where commits flush themselves."""
    if connection.dialect.name != "sqlite":
        return None
    listed = connection.exec_driver_sql("PRAGMA database_list")
    file = next(row[2] for row in listed if row[1] == "main")
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    return Path(f"{file}-wal") if file and mode == "wal" else None


def flush(path: Path) -> None:
    """Flush a file or a folder to disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def opening(url: str) -> Iterator[None]:
    """Turn what goes wrong while a database is opened into BadInput that names it."""
    name = shown_url(url)
    try:
        yield
    except exc.DBAPIError as error:
        raise BadInput.one(f"store.url {name}", reason(error)) from error
    except (exc.ArgumentError, exc.NoSuchModuleError) as error:
        raise BadInput.one("store.url", f"{name}: not a database address ({error})") from error
    except ImportError as error:
        raise BadInput.one(
            "store.url", f"{name}: its driver is not installed ({error}); docs/models.md"
        ) from error


@contextmanager
def writing(connection: sa.Connection, name: str) -> Iterator[None]:
    """Turn what goes wrong later into StoreUnavailable; the connection can be used again."""
    try:
        yield
    except exc.DBAPIError as error:
        connection.rollback()
        raise StoreUnavailable(name, reason(error)) from error


def reason(error: exc.DBAPIError) -> str:
    """What the database says, with what to do about it where that is known."""
    said = " ".join(str(error.orig).split())
    hint = next((hint for sign, hint in HINTS.items() if sign in said), None)
    return f"{hint} ({said})" if hint else said
