"""Leases: who is buying a call right now.

A call that leaves the process is leased before it is sent and given back when its reply is stored,
so two runs on one store do not buy the same call, and a killed run knows afterwards what was in
flight. A lease runs out, or a machine that died would block the others for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from heldout.students.calls.store_rows import CALLS, METADATA

SHARED = "*"
"""Scope of runs that take over each other's calls; every other run is a scope of its own."""

LEASES = sa.Table(
    "leases",
    METADATA,
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("call", sa.Text, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
)

# The database's clock, not ours: several machines must agree on what has run out.
NOW: dict[str, sa.ColumnElement[float]] = {
    "sqlite": sa.literal_column("(julianday('now') - 2440587.5) * 86400.0"),
    "postgresql": sa.literal_column("extract(epoch from clock_timestamp())"),
}
INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A call that a run had sent, or was about to send, when it was killed; `call` in words."""

    key: str
    call: str


@cache
def _acquiring(dialect: str) -> Any:
    """The statement that takes or renews a lease; built once, since it is run for every call."""
    now, seconds = NOW[dialect], sa.bindparam("seconds", type_=sa.Double)
    insert = INSERTS[dialect](LEASES).values(until=now + seconds)
    free = sa.or_(
        LEASES.c.run_id == insert.excluded.run_id,
        LEASES.c.until <= now,
        LEASES.c.until > now + 2 * seconds,
    )
    taken = insert.on_conflict_do_update(
        index_elements=["scope", "key"],
        set_={name: insert.excluded[name] for name in ("run_id", "call", "until")},
        where=free,
    )
    return taken.returning(LEASES.c.key)


RELEASING = sa.delete(LEASES).where(
    LEASES.c.scope == sa.bindparam("scope_"),
    LEASES.c.key == sa.bindparam("key_"),
    LEASES.c.run_id == sa.bindparam("run_id_"),
)


def acquire(
    connection: sa.Connection, scope: str, run_id: str, call: Unfinished, seconds: float
) -> bool:
    """Take the lease of `call` for `seconds`; False while another run has it.

    A run's own lease is renewed. A lease further ahead than `seconds` was made by a clock that
    has jumped back since, and counts as run out.
    """
    values = {"scope": scope, "key": call.key, "run_id": run_id, "call": call.call}
    taken = _acquiring(connection.dialect.name)
    return connection.execute(taken, {**values, "seconds": seconds}).first() is not None


def release(connection: sa.Connection, scope: str, run_id: str, key: str) -> None:
    """Give a lease back; one that another run took over meanwhile stays its."""
    connection.execute(RELEASING, {"scope_": scope, "key_": key, "run_id_": run_id})


def unfinished(connection: sa.Connection, run_id: str) -> tuple[Unfinished, ...]:
    """What this run had in flight when it was killed: leased, and not stored."""
    own = sa.and_(CALLS.c.run_id == run_id, CALLS.c.key == LEASES.c.key)
    left = (
        sa.select(LEASES.c.key, LEASES.c.call)
        .where(LEASES.c.run_id == run_id, ~sa.exists().where(own))
        .order_by(LEASES.c.key)
    )
    return tuple(Unfinished(*row) for row in connection.execute(left))


def forget(connection: sa.Connection, run_id: str) -> None:
    """Drop every lease of a run that has just been opened: its last process is gone."""
    connection.execute(sa.delete(LEASES).where(LEASES.c.run_id == run_id))
