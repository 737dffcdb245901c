"""Calls in and out of a store as lines of JSON, each checked against its own key."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa

from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import sha256_json
from heldout.students.calls.call import Stage
from heldout.students.calls.database import (
    connect,
    create_tables,
    opening,
    read_only,
    shown_url,
    writing,
)
from heldout.students.calls.leases import INSERTS
from heldout.students.calls.store_rows import CALLS, COLUMNS, METADATA, SELECT, StoredCall
from heldout.students.models.chat import StopReason

BATCH = 500
MOST_FAULTS = 20
"""More faults of one file are counted, not listed."""


def read_rows(
    url: str, run_id: str | None = None, stage: str | None = None
) -> Iterator[StoredCall]:
    """The calls of a store, of one run or of all, in the order in which they were stored.

    Writes nothing. Raises BadInput where the store cannot be read.
    """
    wanted = SELECT
    if run_id is not None:
        wanted = wanted.where(CALLS.c.run_id == run_id)
    if stage is not None:
        wanted = wanted.where(CALLS.c.stage == stage)
    with opening(url):
        engine = sa.create_engine(read_only(url), poolclass=sa.pool.NullPool)
        with engine.connect() as connection:
            yield from (StoredCall(*row) for row in connection.execute(wanted))


def write_rows(url: str, rows: Iterable[StoredCall]) -> int:
    """Add calls to a store; those it has already stay. How many were new.

    Raises BadInput where the store cannot be opened, StoreUnavailable where it takes no write.
    """
    added = 0
    with _writable(url) as connection:
        keep = INSERTS[connection.dialect.name](CALLS).on_conflict_do_nothing(
            index_elements=["run_id", "key"]
        )
        waiting = iter(rows)
        while batch := list(islice(waiting, BATCH)):
            added += _add(connection, url, keep, batch)
    return added


def export_lines(rows: Iterable[StoredCall], path: Path) -> int:
    """Write calls as JSON lines, compressed if the name ends in .gz; how many.

    Equal calls give equal bytes. Raises BadInput where the file cannot be written.
    """
    count = 0
    try:
        with _text(path, "w") as handle:
            for row in rows:
                handle.write(json.dumps(row.values, sort_keys=True, ensure_ascii=False) + "\n")
                count += 1
    except OSError as error:
        raise BadInput.one(str(path), f"cannot be written ({error.strerror})") from error
    return count


def import_lines(path: Path) -> list[StoredCall]:
    """The calls of an export. Raises BadInput, naming each line that is no call or was changed."""
    rows: list[StoredCall] = []
    faults: list[Fault] = []
    try:
        with _text(path, "r") as handle:
            for number, line in enumerate(handle, start=1):
                try:
                    rows.append(_read_line(line))
                except ValueError as error:
                    faults.append(Fault(f"{path}:{number}", str(error)))
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise BadInput.one(str(path), f"cannot be read ({error})") from error
    if faults:
        rest = len(faults) - MOST_FAULTS
        more = [Fault(str(path), f"and {rest} more lines like these")] if rest > 0 else []
        raise BadInput([*faults[:MOST_FAULTS], *more])
    return rows


def row_fault(row: StoredCall) -> str | None:
    """What is wrong with a stored call, None if it has not been changed."""
    for name, column in COLUMNS.items():
        if not _fits(value := getattr(row, name), column):
            return f"{name}: {value!r} is not a value of this field"
    if row.stage not in set(Stage) or row.finish not in set(StopReason):
        return f"stage {row.stage!r} or finish {row.finish!r} is not known"
    if row.key != _key(row):
        return "its key does not fit what was asked: the call was changed"
    if (row.messages is not None) != Stage(row.stage).keeps_messages:
        return "messages are kept for the stages reflect and merge, and for no other"
    if row.messages is not None and sha256_json(json.loads(row.messages)) != row.messages_sha256:
        return "its messages do not fit their hash: they were changed"
    return None


def _read_line(line: str) -> StoredCall:
    """The call of a line. Raises ValueError that says what is wrong with it."""
    try:
        values = json.loads(line)
        if not isinstance(values, dict) or values.keys() != COLUMNS.keys():
            said: str | None = f"not a call; a call has the fields {', '.join(sorted(COLUMNS))}"
        else:
            row = StoredCall(**values)
            said = row_fault(row)
    except ValueError as error:
        said = f"not JSON ({error})"
    if said is not None:
        raise ValueError(said)
    return row


def _key(row: StoredCall) -> str:
    """The key as `CallSpec.key` computes it, from the stored fields."""
    return sha256_json(
        [
            row.stage,
            row.messages_sha256,
            row.model,
            row.temperature,
            json.loads(row.parameters),
            {"max_tokens": row.max_tokens, "reasoning_effort": row.reasoning_effort},
            row.seed,
            row.sample,
            row.attempt,
            row.occasion,
        ]
    )


def _fits(value: Any, column: sa.Column[Any]) -> bool:
    if value is None:
        return bool(column.nullable)
    kind = column.type.python_type
    allowed = (int, float) if kind is float else (kind,)
    return isinstance(value, allowed) and not isinstance(value, bool)


def _add(connection: sa.Connection, url: str, keep: Any, batch: Sequence[StoredCall]) -> int:
    count = sa.select(sa.func.count()).select_from(CALLS)
    with writing(connection, shown_url(url)):
        before = connection.execute(count).scalar_one()
        connection.execute(keep, [row.values for row in batch])
        return int(connection.execute(count).scalar_one() - before)


@contextmanager
def _writable(url: str) -> Iterator[sa.Connection]:
    """A connection to a store, its tables made. Raises BadInput where it cannot be opened."""
    with opening(url):
        connection = connect(url)
        create_tables(connection, METADATA)
    try:
        yield connection
    finally:
        connection.close()
        connection.engine.dispose()


def _text(path: Path, mode: str) -> IO[str]:
    if path.suffix == ".gz":
        # No time stamp, so that equal calls make equal files.
        raw = gzip.GzipFile(path, f"{mode}b", mtime=0)
        return io.TextIOWrapper(raw, encoding="utf-8")
    return path.open(mode, encoding="utf-8")
