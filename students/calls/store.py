"""The call store: every model call once.

SQLite beside the run by default, another database by URL. A call that `put` returned survives the
death of the process; after `sync` it survives a power cut as well. The memo of a run is its own
calls; calls of other runs are used only where the reuse mode says so.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum

import sqlalchemy as sa

from heldout.splits.errors import StoreUnavailable
from heldout.students.calls import leases
from heldout.students.calls.call import CallSpec, describe
from heldout.students.calls.database import (
    connect,
    create_tables,
    flush,
    log_file,
    opening,
    shown_url,
    writing,
)
from heldout.students.calls.leases import SHARED
from heldout.students.calls.store_rows import CALLS, METADATA, SELECT, StoredCall, stored_call
from heldout.students.models.chat import ChatReply

INSERT = sa.insert(CALLS)


class Reuse(StrEnum):
    """What a run does with calls that OTHER runs bought; its own are always used."""

    OFF = "off"
    READ_WRITE = "read-write"
    REPLAY = "replay"


class CallStore:
    """The calls of the run `run_id` in the database at `url`.

    `unfinished` are the calls it had in flight when it was killed, and may buy twice. One process
    at a time works on a run. Safe to use from several threads. Raises BadInput where the database
    cannot be opened or written, StoreUnavailable where it fails later.
    """

    def __init__(self, url: str, run_id: str, reuse: Reuse | str = Reuse.OFF) -> None:
        self.run_id = run_id
        self.reuse = Reuse(reuse)
        self.name = shown_url(url)
        self._lock = threading.Lock()
        self._dirty = False
        self._memo: dict[str, StoredCall] = {}
        self._leased: set[str] = set()
        with opening(url):
            self._connection = connect(url)
            create_tables(self._connection, METADATA)
            for row in self._connection.execute(SELECT.where(CALLS.c.run_id == run_id)):
                self._remember(StoredCall(*row))
            self.unfinished = leases.unfinished(self._connection, run_id)
            leases.forget(self._connection, run_id)
        self._log = log_file(self._connection)
        if self._log is not None:
            flush(self._log.parent)

    def __len__(self) -> int:
        """Calls this run holds."""
        return len(self._memo)

    def get(self, key: str, *, afresh: bool = False) -> StoredCall | None:
        """The call with this key: this run's own, else another run's where the mode allows it.

        A call taken from another run is copied to this one with `origin` set, so that the run can
        be resumed and checked alone. One that must be bought `afresh` is taken in a replay only.
        """
        own = self._memo.get(key)
        if own is not None or self.reuse is Reuse.OFF:
            return own
        if afresh and self.reuse is Reuse.READ_WRITE:
            return None
        with self._writing():
            row = self._connection.execute(SELECT.where(CALLS.c.key == key).limit(1)).first()
        if row is None:
            return None
        other = StoredCall(*row)
        return self._insert(replace(other, run_id=self.run_id, origin=other.origin or other.run_id))

    def put(
        self, spec: CallSpec, reply: ChatReply, *, latency_s: float = 0.0, elapsed_s: float = 0.0
    ) -> StoredCall:
        """Store the reply to `spec`; on return it survives a kill. The first reply stays.

        Raises StoreUnavailable when the database takes no write.
        """
        known = self._memo.get(spec.key)
        if known is not None:
            return known
        stored = self._insert(
            stored_call(self.run_id, spec, reply, latency_s=latency_s, elapsed_s=elapsed_s)
        )
        self.release(spec)
        return stored

    def lease(self, spec: CallSpec, seconds: float) -> bool:
        """Announce that `spec` is about to be sent; False while another run is buying it.

        Runs share leases where they share calls (`read-write`). The lease ends with `put`, with
        `release`, or after `seconds`.
        """
        call = leases.Unfinished(spec.key, describe(spec))
        with self._writing():
            scope = self._scope_of(spec)
            mine = leases.acquire(self._connection, scope, self.run_id, call, seconds)
        if mine:
            self._leased.add(spec.key)
        return mine

    def release(self, spec: CallSpec) -> None:
        """Give the lease of a call back, if this run has it."""
        if spec.key not in self._leased:
            return
        self._leased.discard(spec.key)
        with self._writing():
            leases.release(self._connection, self._scope_of(spec), self.run_id, spec.key)

    def calls(self) -> Iterator[StoredCall]:
        """This run's calls, in the order in which they were stored."""
        return iter(list(self._memo.values()))

    def sync(self) -> None:
        """Make everything put so far survive a power cut; called before a journal event.

        SQLite's log is only flushed at checkpoints, so it is flushed here; a server database has
        flushed at every commit.
        """
        if not self._dirty or self._log is None:
            return
        try:
            flush(self._log)
        except OSError as error:
            raise StoreUnavailable(self.name, error.strerror or str(error)) from error
        self._dirty = False

    def close(self) -> None:
        """Flush and let go of the database; closing twice is allowed."""
        if not self._connection.closed:
            self.sync()
            self._connection.close()
            self._connection.engine.dispose()

    def _insert(self, call: StoredCall) -> StoredCall:
        with self._writing():
            self._connection.execute(INSERT, call.values)
            self._dirty = True
        return self._remember(call)

    def _remember(self, call: StoredCall) -> StoredCall:
        # The provider's own words are most of a call's size, and nothing of a run reads them.
        stored = self._memo[call.key] = replace(call, raw="")
        return stored

    def _scope_of(self, spec: CallSpec) -> str:
        """Who shares the leases of a call: the runs that would take it over."""
        shared = self.reuse is Reuse.READ_WRITE and not spec.occasion
        return SHARED if shared else self.run_id

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, writing(self._connection, self.name):
            yield
