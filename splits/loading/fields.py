"""Fields of one record, checked one by one; a fault names place, field and what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from heldout.splits.loading.json_records import Record, type_name
from heldout.splits.loading.text_files import Faults, suggestion

E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Fields:
    """Reads the fields of `record` and notes what is wrong in `faults`.

    Every method returns None after a fault, and where an optional value is absent or null.
    """

    record: Record
    faults: Faults

    def fault(self, field: str, message: str) -> None:
        """Note a fault of `field`."""
        self.faults.add(self.record.where, f"{field}: {message}")

    def present(self, field: str) -> bool:
        """True if the field is there, null included; else a fault that suggests a near name."""
        if field in self.record.value:
            return True
        near = suggestion(field, [name for name in self.record.value if isinstance(name, str)])
        self.fault(field, f"missing{near.replace('did you mean', 'is it')}")
        return False

    def text(self, field: str, *, optional: bool = False) -> str | None:
        """A text that is not blank. `optional`: may be absent or null."""
        value = self._value(field, optional)
        if value is None:
            return None
        if not isinstance(value, str):
            self.fault(field, f"text is needed, not {type_name(value)}")
            return None
        problem = text_problem(value)
        if problem:
            self.fault(field, problem)
            return None
        return value

    def name(self, field: str, *, optional: bool = False, bar: bool = True) -> str | None:
        """A text fit to be an id: printable, no space around it, no `|` unless `bar`."""
        value = self.text(field, optional=optional)
        if value is None:
            return None
        if value != value.strip() or not value.isprintable():
            self.fault(field, f"{value!r} has white space around it or control characters in it")
            return None
        if not bar and "|" in value:
            self.fault(field, f"{value!r} holds «|», which separates stratum and id")
            return None
        return value

    def choice(self, field: str, allowed: Sequence[E], *, optional: bool = False) -> E | None:
        """One of `allowed`, spelled exactly."""
        value = self._value(field, optional)
        if value is None:
            return None
        names = [str(member) for member in allowed]
        if value not in names:
            shown = repr(value) if isinstance(value, str) else type_name(value)
            near = suggestion(value, names) if isinstance(value, str) else ""
            self.fault(field, f"{shown} is not one of {', '.join(names)}{near}")
            return None
        return allowed[names.index(value)]

    def _value(self, field: str, optional: bool) -> Any:
        if optional and self.record.value.get(field) is None:
            return None
        if not self.present(field):
            return None
        value = self.record.value[field]
        if value is None:
            self.fault(field, "null, a value is needed")
        return value


def text_problem(text: str) -> str | None:
    """What makes `text` unfit to be judged, or None."""
    if not text.strip():
        return "is blank"
    if "\0" in text:
        return f"NUL character at position {text.index(chr(0)) + 1}"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"half of a surrogate pair at position {error.start + 1}"
    return None
