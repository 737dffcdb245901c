"""The journal: the hash-chained, append-only list of what happened; the truth of a run.

One event a line, each with the hash of the line before. Resuming is running the same deterministic
loop again: an event that is already on record is compared instead of written, and the first
difference is an error that names it. There is no other resume code.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from heldout.gepa.record.codec import Event, EventBody, decode, encode
from heldout.gepa.record.events import Deterministic, EventKind, Remark
from heldout.splits.errors import BadInput, JournalBroken, JournalMismatch, StoreUnavailable
from heldout.splits.hashing import canonical_json

GENESIS = "0" * 64
"""`prev` of the first event."""

WITHIN_ITERATION = frozenset({EventKind.EVALUATION, EventKind.CANDIDATE})
"""Kinds that become durable with the next event of another kind.

A kill of the process loses none of them; a power cut may, and then the run computes them again
from the stored calls. What the world outside depends on (looks, gate, emission) is never here.
"""

Observer = Callable[[Event, bool], None]
"""Told of every event; the flag is True where the event was already on record."""


def read_journal(path: Path) -> list[Event]:
    """All whole events of a journal, oldest first.

    A torn last line (the process died while writing it) is left out. Raises JournalBroken, naming
    the first bad line, when the chain does not hold.
    """
    return [event for event, _ in _read(path)]


def _read(path: Path) -> Iterator[tuple[Event, int]]:
    """Each event with the byte offset of its end."""
    prev, offset = GENESIS, 0
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        offset += len(line)
        try:
            event, text = _parse(line)
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines) and not line.endswith(b"\n"):
                return
            raise JournalBroken(str(path), number, f"not a journal event ({error})") from error
        if not line.endswith(b"\n"):
            return
        if event.index != number - 1 or event.prev != prev:
            raise JournalBroken(str(path), number, "does not follow the line before it")
        if event.hash != _hash(event.index, event.time, event.kind, text, prev):
            raise JournalBroken(str(path), number, "was changed after it was written")
        prev = event.hash
        yield event, offset


def _parse(line: bytes) -> tuple[Event, str]:
    """The event of a line, and the canonical text of its body, which the hash covers."""
    raw = json.loads(line)
    body = decode(EventKind(raw["kind"]), raw["body"])
    event = Event(index=raw["n"], time=raw["t"], body=body, prev=raw["prev"], hash=raw["hash"])
    return event, canonical_json(raw["body"])


def _hash(index: int, time: str, kind: str, body: str, prev: str) -> str:
    """Hash of one line; `body` is its canonical JSON."""
    text = f"{prev}\n{index}\n{time}\n{kind}\n{body}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Journal(Protocol):
    """What the engine needs of a journal: a place where deterministic events go."""

    def append(self, event: Deterministic, /) -> None:
        """Record one event, on disk when the call returns.

        Raises JournalMismatch when a resumed run computes another event than it recorded before.
        """


class RunJournal:
    """The journal of one run directory.

    Opening it drops a torn last line. `observers` see every event in order, replayed ones first.
    `events` holds those this session has come past, remarks included; `mark` is the hash of the
    newest one that is not a remark, which a resumed run meets again. `before_write` makes the call
    store durable: it may hold more than the journal mentions, never less.
    """

    def __init__(
        self,
        path: Path,
        observers: tuple[Observer, ...] = (),
        before_write: Callable[[], None] = lambda: None,
    ) -> None:
        self.path = path
        self._observers, self._before_write = observers, before_write
        self._recorded: list[Event] = []
        self.events: list[Event] = []
        self.mark = GENESIS
        end = 0
        if path.exists():
            for event, offset in _read(path):
                self._recorded.append(event)
                end = offset
            if path.stat().st_size > end:
                os.truncate(path, end)
        self._length = len(self._recorded)
        self._head = self._recorded[-1].hash if self._recorded else GENESIS
        self._cursor = 0
        try:
            self._file = path.open("ab")
        except OSError as error:
            raise BadInput.one(str(path), f"cannot be written ({error.strerror})") from error

    @property
    def replaying(self) -> bool:
        """True while events on record are still ahead."""
        return any(not event.is_remark for event in self._recorded[self._cursor :])

    def append(self, event: Deterministic, /) -> None:
        """Record a deterministic event, or check it against the record while replaying."""
        recorded = self._next_recorded()
        if recorded is None:
            self._write(event)
            return
        if encode(recorded.body) != encode(event):
            raise JournalMismatch(recorded.index, recorded.kind, _difference(recorded.body, event))
        self._tell(recorded, True)

    def remark(self, event: Remark) -> None:
        """Record what happened to the process; never compared."""
        self._write(event)

    def close(self) -> None:
        """Close the file; appending afterwards is an error."""
        self._file.close()

    def _next_recorded(self) -> Event | None:
        while self._cursor < len(self._recorded):
            event = self._recorded[self._cursor]
            self._cursor += 1
            if not event.is_remark:
                return event
            self._tell(event, True)
        return None

    def _write(self, event: EventBody) -> None:
        self._before_write()
        kind, body = EventKind(event.event_kind), canonical_json(encode(event))
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        index, prev = self._length, self._head
        own = _hash(index, time, kind, body, prev)
        # The body is spliced in rather than encoded again: it is most of the line.
        line = (
            f'{{"body":{body},"hash":"{own}","kind":"{kind}","n":{index},'
            f'"prev":"{prev}","t":"{time}"}}\n'
        )
        self._put_down(line.encode("utf-8", "surrogatepass"), flush=kind not in WITHIN_ITERATION)
        self._length, self._head = index + 1, own
        # As it is read back: a page made live is the page made from the file, orders included.
        on_record = decode(kind, json.loads(body))
        self._tell(Event(index, time, on_record, prev, own), False)

    def _put_down(self, line: bytes, *, flush: bool) -> None:
        """Write one line, whole or not at all. Raises StoreUnavailable on a full disk."""
        handle = self._file.fileno()
        start, left = os.fstat(handle).st_size, memoryview(line)
        try:
            while left:
                left = left[os.write(handle, left) :]
            if flush:
                os.fsync(handle)
        except OSError as error:
            # A torn line must not run into the next one.
            os.ftruncate(handle, start)
            raise StoreUnavailable(str(self.path), error.strerror or str(error)) from error

    def _tell(self, event: Event, replayed: bool) -> None:
        self.events.append(event)
        if not event.is_remark:
            self.mark = event.hash
        for observer in self._observers:
            observer(event, replayed)


def _difference(recorded: EventBody, computed: EventBody) -> str:
    if recorded.event_kind != computed.event_kind:
        return f"the run now computes a {computed.event_kind} event"
    before, now = encode(recorded), encode(computed)
    keys = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
    return ", ".join(
        f"{key}: {_short(before.get(key))} on record, {_short(now.get(key))} now"
        for key in keys[:3]
    )


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 60 else text[:57] + "..."
