"""Files read into text, with every fault of the bytes found before a field is looked at."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import ParamSpec, TypeVar

from heldout.splits.errors import BadInput, Fault

MAX_BYTES = 1 << 30
"""Largest file read, after decompression."""

MAX_LINE_BYTES = 16 << 20
"""Longest line read; a consultation with all its notes has some ten thousand bytes."""

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Faults:
    """What is wrong so far; reading goes on to find the rest."""

    found: list[Fault] = field(default_factory=list)

    def add(self, where: str, message: str) -> None:
        """Note one fault."""
        self.found.append(Fault(where, message))

    def attempt(self, read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """What `read` returns; where it raises BadInput its faults are noted, and None comes."""
        try:
            return read(*args, **kwargs)
        except BadInput as error:
            self.found.extend(error.faults)
            return None

    def raise_any(self) -> None:
        """Raise BadInput with every fault, if there is one."""
        if self.found:
            raise BadInput(self.found)


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file's bytes after decompression, with the SHA-256 of the bytes on disk."""

    path: Path
    data: bytes
    sha256: str
    encoding: str = "utf-8"
    """What the text was written in; `data` is UTF-8 whatever it was."""

    @property
    def kind(self) -> str:
        """The suffix that tells the format, `.gz` left out: `.json`, `.jsonl`, `.csv`."""
        path = self.path.with_suffix("") if self.path.suffix == ".gz" else self.path
        return path.suffix.lower()


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text that is not blank; `number` counts from 1."""

    number: int
    text: str


def suggestion(value: str, allowed: Sequence[str], cutoff: float = 0.6) -> str:
    """`; did you mean «…»?` for the closest of `allowed`, or nothing.

    `cutoff` in [0, 1] is the least similarity (difflib's ratio).
    """
    by_plain = {_plain(name): name for name in allowed}
    close = get_close_matches(_plain(value), list(by_plain), n=1, cutoff=cutoff)
    return f"; did you mean «{by_plain[close[0]]}»?" if close else ""


def read_input(path: Path) -> InputFile:
    """The file at `path`, decompressed if it is gzip.

    Raises BadInput where it is absent, no regular file, unreadable, broken, too large or empty.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadInput.one(str(path), "is no regular file")
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise BadInput.one(str(path), "no such file") from None
    except IsADirectoryError:
        raise BadInput.one(str(path), "is a directory, a file is needed") from None
    except (OSError, ValueError) as error:
        raise BadInput.one(str(path), f"cannot be read: {error}") from error
    zipped = path.suffix == ".gz" or raw.startswith(_GZIP_MAGIC)
    data = _decompressed(path, raw) if zipped else raw
    if len(data) > MAX_BYTES:
        raise BadInput.one(str(path), f"holds more than {MAX_BYTES >> 20} MiB")
    if not data.strip():
        raise BadInput.one(str(path), "is empty")
    return InputFile(path, data, hashlib.sha256(raw).hexdigest())


def text_lines(file: InputFile, faults: Faults) -> list[TextLine]:
    """The lines of `file` that are not blank and are sound text; the others are noted."""
    lines = []
    for number, raw in raw_lines(file):
        text = faults.attempt(decoded, f"{file.path}:{number}", raw)
        if text is not None:
            lines.append(TextLine(number, text.removesuffix("\r")))
    return lines


def whole_text(file: InputFile) -> str:
    """The text of `file`. Raises BadInput naming every line that is no sound text."""
    faults = Faults()
    texts = [
        faults.attempt(decoded, f"{file.path}:{number}", raw)
        for number, raw in enumerate(_all_lines(file), start=1)
    ]
    faults.raise_any()
    return "\n".join(text for text in texts if text is not None)


def decoded(where: str, raw: bytes) -> str:
    """One line as text. Raises BadInput for NUL, bytes that are not UTF-8, too long a line."""
    if len(raw) > MAX_LINE_BYTES:
        message = f"line of {len(raw)} bytes, at most {MAX_LINE_BYTES} are read"
        raise BadInput.one(where, message)
    if b"\0" in raw:
        position = raw.index(b"\0") + 1
        raise BadInput.one(where, f"NUL at byte {position}: damaged, or saved as UTF-16?")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: {error.reason} at byte {error.start + 1}"
        raise BadInput.one(where, message) from None


def raw_lines(file: InputFile) -> Iterator[tuple[int, bytes]]:
    """The lines of `file` that are not blank, with their numbers from 1."""
    return ((n, raw) for n, raw in enumerate(_all_lines(file), start=1) if raw.strip())


def _all_lines(file: InputFile) -> Iterator[bytes]:
    stream = io.BytesIO(file.data)
    if file.data.startswith(_BYTE_ORDER_MARK):
        stream.seek(len(_BYTE_ORDER_MARK))
    last = b"\n"
    for last in stream:
        yield last.removesuffix(b"\n")
    if last.endswith(b"\n"):
        yield b""


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


def _decompressed(path: Path, raw: bytes) -> bytes:
    try:
        with gzip.open(path) as stream:
            return stream.read(MAX_BYTES + 1)
    except EOFError:
        message = "gzip data ends too early: is the file truncated?"
    except (OSError, zlib.error) as error:
        hint = "" if raw.startswith(_GZIP_MAGIC) else " (its name ends in .gz)"
        message = f"broken gzip: {error}{hint}"
    raise BadInput.one(str(path), message)
