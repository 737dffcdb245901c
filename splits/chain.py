"""An append-only file of lines chained by hash: the journal of a run, the looks at held-out.

A line names its number, the hash of the line before and its own hash, so an edit, a removed line
and two lines exchanged all show, with the number of the first line that does not fit. How a line
is laid out is a `LineFormat`. A line is written whole or not at all, and a kill may leave a torn
last line: reading leaves it out, opening cuts it off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from heldout.splits.errors import JournalBroken

Entry = TypeVar("Entry")
Content = TypeVar("Content")
Content_contra = TypeVar("Content_contra", contravariant=True)

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What taking a line of foreign JSON apart may raise."""


@dataclass(frozen=True, slots=True)
class ChainedLine(Generic[Entry]):
    """One line as it states itself: number, hash of the line before, own hash, and its content."""

    number: int
    previous: str
    hash: str
    entry: Entry


class LineChanged(ValueError):
    """The hash of a line does not fit its content."""

    def __init__(self) -> None:
        super().__init__("was changed after it was written")


class LineFormat(Protocol[Entry, Content_contra]):
    """How one kind of file lays out its lines."""

    first: int
    """Number of the first line."""
    genesis: str
    """What the first line names as the hash before it."""
    noun: str
    """What a line is called in messages, such as «journal event»."""
    origin: str
    """What the first line follows from, in messages."""
    completes: bool
    """True: a last line that is whole but for its line end counts, and is completed."""

    def parse(self, raw: bytes) -> ChainedLine[Entry]:
        """The line in `raw`, its line end left out.

        Raises LineChanged before it makes anything of the content, else one of `UNREADABLE`.
        """

    def compose(
        self, number: int, previous: str, content: Content_contra
    ) -> tuple[bytes, ChainedLine[Entry]]:
        """The bytes of a new line, line end included, and the line as `parse` will read it."""


class ChainFile(Generic[Entry, Content]):
    """The file at `path`, with lines of one format. One process at a time may have it open."""

    def __init__(self, path: Path, layout: LineFormat[Entry, Content]) -> None:
        self.path, self._layout = path, layout
        self._handle = -1
        self._length, self._head = 0, layout.genesis

    def read(self) -> list[Entry]:
        """What every whole line holds, oldest first; a torn last line is left out.

        Raises JournalBroken with the number of the first bad line, OSError.
        """
        return [line.entry for line in self._lines(self.path.read_bytes())]

    def open(self) -> list[Entry]:
        """Open for appending, and what the lines so far hold; a torn last line is cut off.

        The file is made where there is none. Raises JournalBroken, OSError.
        """
        data = self.path.read_bytes() if self.path.exists() else None
        lines = list(self._lines(data or b""))
        self._handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        if data is None:
            sync_folder(self.path.parent)
        elif data and not data.endswith(b"\n"):
            if len(lines) > data.count(b"\n"):
                self._put_down(b"\n", durable=True)
            else:
                os.ftruncate(self._handle, data.rfind(b"\n") + 1)
                os.fsync(self._handle)
        self._length = len(lines)
        self._head = lines[-1].hash if lines else self._layout.genesis
        return [line.entry for line in lines]

    def append(self, content: Content, *, durable: bool = True) -> Entry:
        """Write one line, whole or not at all; what it holds comes back.

        `durable`: on disk when this returns; otherwise with the next line that is. Raises OSError
        where the disk takes no more, after which the file is as it was.
        """
        number = self._layout.first + self._length
        raw, line = self._layout.compose(number, self._head, content)
        self._put_down(raw, durable=durable)
        self._length, self._head = self._length + 1, line.hash
        return line.entry

    def close(self) -> None:
        """Close the file; appending afterwards is an error."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _put_down(self, raw: bytes, *, durable: bool) -> None:
        if self._handle < 0:
            raise ValueError(f"{self.path} is not open")
        start, left = os.fstat(self._handle).st_size, memoryview(raw)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
            if durable:
                os.fsync(self._handle)
        except OSError:
            # A torn line must not run into the next one.
            os.ftruncate(self._handle, start)
            raise

    def _lines(self, data: bytes) -> Iterator[ChainedLine[Entry]]:
        *whole, rest = data.split(b"\n")
        previous = self._layout.genesis
        for place, raw in enumerate(whole):
            line = self._checked(raw, place, previous)
            previous = line.hash
            yield line
        if rest and self._layout.completes:
            try:
                yield self._checked(rest, len(whole), previous)
            except JournalBroken:
                return

    def _checked(self, raw: bytes, place: int, previous: str) -> ChainedLine[Entry]:
        """The line at `place` (from 0), held against the hash of the one before."""
        try:
            line = self._layout.parse(raw)
        except LineChanged as error:
            raise JournalBroken(str(self.path), place + 1, str(error)) from None
        except UNREADABLE as error:
            detail = f"not a {self._layout.noun}: {' '.join(str(error).split())}"
            raise JournalBroken(str(self.path), place + 1, detail) from None
        if (line.number, line.previous) != (self._layout.first + place, previous):
            before = "the line before" if place else self._layout.origin
            raise JournalBroken(str(self.path), place + 1, f"does not follow from {before}")
        return line


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, so that a new file survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
