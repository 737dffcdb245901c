"""The journal: the hash-chained, append-only list of what happened; the truth of a run.

One event a line, each with the hash of the line before. Resuming is running the same deterministic
loop again: an event that is already on record is compared instead of written, and the first
difference is an error that names it. There is no other resume code.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from heldout.gepa.record.codec import Event, EventBody, decode, encode
from heldout.gepa.record.events import Deterministic, EmissionEvent, GateEvent
from heldout.gepa.record.kinds import EventKind
from heldout.gepa.record.remarks import Remark
from heldout.splits.chain import ChainedLine, ChainFile, LineChanged
from heldout.splits.errors import BadInput, JournalMismatch, StoreUnavailable
from heldout.splits.hashing import canonical_json, sha256_text

GENESIS = "0" * 64
"""`prev` of the first event."""

WITHIN_ITERATION = frozenset({EventKind.EVALUATION, EventKind.CANDIDATE})
"""Kinds that become durable with the next event of another kind.

A kill of the process loses none of them; a power cut may, and then the run computes them again
from the stored calls. What the world outside depends on (looks, gate, emission) is never here.
"""

Observer = Callable[[Event, bool], None]
"""Told of every event; the flag is True where the event was already on record."""


class EventLines:
    """How an event stands on its line; see `LineFormat`."""

    first, genesis, noun, origin = 0, GENESIS, "journal event", "the start of a journal"
    completes = False

    def parse(self, raw: bytes) -> ChainedLine[Event]:
        """The event of a line; the hash covers the canonical text of its body."""
        line = json.loads(raw)
        index, time, prev, own = line["n"], line["t"], line["prev"], line["hash"]
        if own != _hash(index, time, line["kind"], canonical_json(line["body"]), prev):
            raise LineChanged
        event = Event(index, time, decode(EventKind(line["kind"]), line["body"]), prev, own)
        return ChainedLine(index, prev, own, event)

    def compose(
        self, number: int, previous: str, content: EventBody
    ) -> tuple[bytes, ChainedLine[Event]]:
        """The line of an event that happens now."""
        kind, body = EventKind(content.event_kind), canonical_json(encode(content))
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        own = _hash(number, time, kind, body, previous)
        # The body is spliced in rather than encoded again: it is most of the line.
        line = (
            f'{{"body":{body},"hash":"{own}","kind":"{kind}","n":{number},'
            f'"prev":"{previous}","t":"{time}"}}\n'
        )
        # As it is read back: what follows a live run sees what stands on record, orders included.
        event = Event(number, time, decode(kind, json.loads(body)), previous, own)
        return line.encode("utf-8", "surrogatepass"), ChainedLine(number, previous, own, event)


def read_journal(path: Path) -> list[Event]:
    """All whole events of a journal, oldest first.

    A torn last line (the process died while writing it) is left out. Raises JournalBroken, naming
    the first bad line, when the chain does not hold.
    """
    return ChainFile(path, EventLines()).read()


def torn_bytes(journal: Path) -> int:
    """Length of what stands behind the last line end; 0 for a whole journal or none."""
    return len(journal.read_bytes().rpartition(b"\n")[2]) if journal.is_file() else 0


def _hash(index: int, time: str, kind: str, body: str, prev: str) -> str:
    """Hash of one line; `body` is its canonical JSON."""
    return sha256_text(f"{prev}\n{index}\n{time}\n{kind}\n{body}")


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
        self.events: list[Event] = []
        self.mark = GENESIS
        self._file: ChainFile[Event, EventBody] = ChainFile(path, EventLines())
        self._cursor = 0
        try:
            self._recorded = self._file.open()
        except OSError as error:
            raise BadInput.one(str(path), f"cannot be written ({error.strerror})") from error

    @property
    def on_record(self) -> tuple[Event, ...]:
        """The events that stood in it when it was opened."""
        return tuple(self._recorded)

    @property
    def replaying(self) -> bool:
        """True while events on record are still ahead."""
        return self.ahead is not None

    @property
    def ahead(self) -> Event | None:
        """The next event on record that is computed again, None where nothing is left."""
        left = self._recorded[self._cursor :]
        return next((event for event in left if not event.is_remark), None)

    def append(self, event: Deterministic, /) -> None:
        """Record a deterministic event, or check it against the record while replaying."""
        recorded = self._next_recorded()
        if recorded is None:
            self._write(event)
            return
        if compared(recorded.body) != compared(event):
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
        self._tell(self._put_down(event), False)

    def _put_down(self, event: EventBody) -> Event:
        """Append one line, whole or not at all. Raises StoreUnavailable on a full disk."""
        try:
            return self._file.append(event, durable=event.event_kind not in WITHIN_ITERATION)
        except OSError as error:
            raise StoreUnavailable(str(self.path), error.strerror or str(error)) from error

    def _tell(self, event: Event, replayed: bool) -> None:
        self.events.append(event)
        if not event.is_remark:
            self.mark = event.hash
        for observer in self._observers:
            observer(event, replayed)


PROSE = frozenset({"sentences", "caveats", "warnings", "seen_before"})
"""Fields in words, which another version may choose otherwise, and what others did meanwhile."""

DECIDED = frozenset(
    {"decision", "reason", "rule", "difference", "heldout", "winner_minus_baseline", "word_count"}
)
"""What of a decision has to come out alike; what else it tells follows from these and the rest."""


def compared(event: EventBody) -> dict[str, Any]:
    """What of an event a replay holds against the record: everything but words, and of the gate
    event the decision with its figures, so that a later version may say more of them."""
    body = encode(event)
    if isinstance(event, GateEvent):
        return {key: value for key, value in body.items() if key in DECIDED}
    if isinstance(event, EmissionEvent):
        # `verify` holds the card against its hash; a later version's card tells more.
        return {key: value for key, value in body.items() if key != "card_sha256"}
    return {key: value for key, value in body.items() if key not in PROSE}


def _difference(recorded: EventBody, computed: EventBody) -> str:
    if recorded.event_kind != computed.event_kind:
        return f"the run now computes a {computed.event_kind} event"
    before, now = compared(recorded), compared(computed)
    keys = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
    return ", ".join(
        f"{key}: {_short(before.get(key))} on record, {_short(now.get(key))} now"
        for key in keys[:3]
    )


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 60 else text[:57] + "..."
