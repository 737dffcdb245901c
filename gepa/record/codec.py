"""The codec: typed values to plain JSON and back. Nothing else writes or reads an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import TypeAdapter

from heldout.gepa.record.events import Deterministic
from heldout.gepa.record.kinds import EventKind
from heldout.gepa.record.remarks import Remark
from heldout.gepa.settings import as_meant_before

EventBody = Deterministic | Remark
"""What an event holds."""

BODIES: Mapping[EventKind, type[EventBody]] = {
    EventKind(body.event_kind): body for body in (*get_args(Deterministic), *get_args(Remark))
}
"""The class of each kind of event."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the journal. `time` is ISO 8601 in UTC; `hash` covers `prev` and the line."""

    index: int
    time: str
    body: EventBody
    prev: str
    hash: str

    @property
    def kind(self) -> EventKind:
        """What the event is about."""
        return EventKind(self.body.event_kind)

    @property
    def is_remark(self) -> bool:
        """True where the event is about the process and not about the campaign."""
        return isinstance(self.body, Remark)


def plain(value: object) -> Any:
    """A dataclass, or anything made of dataclasses, as JSON values: objects, arrays, scalars."""
    return _adapter(type(value)).dump_python(value, mode="json", by_alias=True)


def encode(body: EventBody) -> dict[str, Any]:
    """An event as the JSON object that stands on its line."""
    found: dict[str, Any] = plain(body)
    return found


def decode(kind: EventKind, body: Mapping[str, Any]) -> EventBody:
    """The event that a line holds, of this version or an older one.

    A field that older versions did not record has its default, a setting the meaning it had then.
    Raises ValueError for anything that
    is no event of this kind.
    """
    if kind is EventKind.SETTINGS:
        body = as_meant_before(body)
    found: EventBody = _adapter(BODIES[kind]).validate_python(body)
    return found


def _adapter(type_: type) -> TypeAdapter[Any]:
    if type_ not in _ADAPTERS:
        _ADAPTERS[type_] = TypeAdapter(type_)
    return _ADAPTERS[type_]


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}
"""Building one takes far longer than using it."""
