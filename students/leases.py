"""Leases: who is buying a call right now.

A call that leaves the process is leased before it is sent and given back when its reply is stored,
so two runs on one store do not buy the same call, and a killed run knows afterwards what was in
flight. A lease runs out, or a machine that died would block the others for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from heldout.students.store_rows import CALLS, METADATA

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


def acquire(
    connection: sa.Connection, scope: str, run_id: str, call: Unfinished, seconds: float
) -> bool:
    """Take the lease of `call` for `seconds`; False while another run has it.

    A run's own lease is renewed. A lease further ahead than `seconds` was made by a clock that
    has jumped back since, and counts as run out.
    """
    now = NOW[connection.dialect.name]
    insert = INSERTS[connection.dialect.name](LEASES).values(
        scope=scope, key=call.key, run_id=run_id, call=call.call, until=now + seconds
    )
    free = sa.or_(
        LEASES.c.run_id == run_id, LEASES.c.until < now, LEASES.c.until > now + 2 * seconds
    )
    taken = insert.on_conflict_do_update(
        index_elements=["scope", "key"],
        set_={"run_id": run_id, "call": call.call, "until": insert.excluded.until},
        where=free,
    )
    return connection.execute(taken).rowcount == 1


def release(connection: sa.Connection, scope: str, run_id: str, key: str) -> None:
    """Give a lease back; one that another run took over meanwhile stays its."""
    mine = sa.delete(LEASES).where(
        LEASES.c.scope == scope, LEASES.c.key == key, LEASES.c.run_id == run_id
    )
    connection.execute(mine)


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
