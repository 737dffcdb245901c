"""A reply as it came over the wire: bounded while it is read and unpacked, never redirected.

Whatever sends a request, a door of Heldout or a judge that was exported, takes its reply in here,
so the same bytes mean the same wherever they arrive. It rests on the standard library alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.secrets import Redact

ENCODINGS = "gzip, deflate"
"""What is asked for: both can be unpacked piece by piece, so that a bomb is seen as it grows."""


@dataclass(frozen=True, slots=True)
class Received:
    """A whole reply: its status, its headers, and its body as it was before it was packed."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def well(self) -> bool:
        """True if the status says that this is an answer."""
        return 200 <= self.status < 300


def refuse_redirect(status: int, headers: Mapping[str, str], clean: Redact) -> None:
    """Raise InfrastructureFailure where the reply redirects.

    Following it would carry key and notes to another host. What is told of it passes `clean`.
    """
    if 300 <= status < 400:
        place = clean(_header(headers, "location") or "nowhere")[:200]
        raise InfrastructureFailure(
            f"status {status}: the endpoint redirects to {place!r}; redirects are not followed, "
            "give the address itself",
            kind="redirect",
            transient=False,
        )


class Receiving:
    """A reply of which the body comes in pieces; `most` bounds it in bytes, unpacked."""

    def __init__(self, status: int, headers: Mapping[str, str], most: int) -> None:
        self._status, self._headers, self._most = status, headers, most
        self._packing = _header(headers, "content-encoding")
        self._unpacked: _Unpacked | None = None
        self._body = bytearray()
        self.over = False
        """True where nothing more of it is to be read."""

    def take(self, piece: bytes) -> None:
        """Take in the next piece as it came.

        Raises InfrastructureFailure where the body is too large or badly packed.
        """
        try:
            self._unpacked = self._unpacked or _Unpacked(self._packing)
            self._body += self._unpacked.piece(piece, self._most + 1 - len(self._body))
            if len(self._body) > self._most:
                raise _too_large(self._most)
        except InfrastructureFailure:
            # Not kept: whoever holds the fault holds this reply by its traceback.
            self._body, self.over = bytearray(), True
            # An error's status says what it is, whatever its body may be.
            if self._status < 400:
                raise

    @property
    def size(self) -> int:
        """Bytes of the body so far."""
        return len(self._body)

    def whole(self) -> Received:
        """The reply, all of it taken in."""
        return Received(self._status, self._headers, bytes(self._body))


class _Unpacked:
    """Unpacks a body piece by piece, never more of it than is asked for."""

    def __init__(self, encodings: str) -> None:
        names = [name for name in encodings.lower().replace(" ", "").split(",") if name]
        self._names = [name for name in names if name != "identity"]
        self._unpack: Any = None
        if self._names not in ([], ["gzip"], ["x-gzip"], ["deflate"]):
            raise _badly_packed(f"encoded as {encodings[:60]!r}, which was not asked for")

    def piece(self, packed: bytes, most: int) -> bytes:
        """At most `most` bytes of what `packed` holds; a body that is over has no more."""
        if not self._names or not packed:
            return packed
        if self._unpack is None:
            self._unpack = zlib.decompressobj(self._window(packed))
        try:
            return bytes(self._unpack.decompress(packed, most))
        except zlib.error as error:
            raise _badly_packed(f"marked {self._names[0]}, which it is not") from error

    def _window(self, packed: bytes) -> int:
        """How zlib is to read it: with the header of gzip or zlib, or bare deflate."""
        bare = self._names == ["deflate"] and packed[0] & 0x0F != 8
        return -zlib.MAX_WBITS if bare else zlib.MAX_WBITS | 32


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")


def _too_large(most: int) -> InfrastructureFailure:
    return InfrastructureFailure(
        f"a body of more than {most:,} bytes; body_mb in the model's pin says how much is read",
        kind="too_large",
    )


def _badly_packed(what: str) -> InfrastructureFailure:
    return InfrastructureFailure(f"a body that is {what}", kind="not_json")
