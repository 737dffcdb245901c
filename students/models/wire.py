"""The wire: one HTTP request, its whole reply within bounds, and nothing sent anywhere else.

Both doors send through it, so the same bytes mean the same on either. A reply is bounded while it
is read and after it is unpacked, a redirect is never followed (it would carry key and notes to
another host), and cookies are not kept: no call may change the next.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar
from typing import Any

import httpx

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.chat import BODY_BYTES
from heldout.students.models.secrets import Redact

CONNECT_S = 20.0
"""How long opening a connection may take; the caller bounds the whole request."""

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


class Wire:
    """Sends requests, each once. `most` bounds a body in bytes; `clean` masks what is told of it.

    To be closed with `aclose`, in the event loop that sent.
    """

    def __init__(self, clean: Redact, most: int = BODY_BYTES) -> None:
        self._clean, self._most = clean, most
        self._idle: list[httpx.AsyncClient] = []
        self._trust: Any = None

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes
    ) -> Received:
        """The reply. Raises InfrastructureFailure where none came back whole, and for redirects."""
        asked = httpx.Headers(headers)
        asked["Accept-Encoding"] = ENCODINGS
        request = httpx.Request(
            method,
            url,
            headers=asked,
            content=content,
            extensions={"timeout": httpx.Timeout(None, connect=CONNECT_S).as_dict()},
        )
        # One client a request in flight: httpx looks through all connections of a pool for every
        # request, which at 96 in flight costs three times what the request does.
        client = self._idle.pop() if self._idle else self._connected()
        try:
            return await self._exchanged(client, request)
        except httpx.TimeoutException as error:
            raise self._fault("no reply in time", error, "timeout") from error
        except httpx.ConnectError as error:
            raise self._fault("no connection", error, "connect") from error
        except httpx.LocalProtocolError as error:
            # Not told in its own words: it quotes the header that could not be sent.
            said = "the request cannot be sent; look at the key and the address for odd characters"
            raise InfrastructureFailure(said, kind="bad_request", transient=False) from error
        except httpx.TransportError as error:
            raise self._fault("connection lost", error, "reset") from error
        finally:
            self._idle.append(client)

    async def aclose(self) -> None:
        """Close the connections."""
        while self._idle:
            await self._idle.pop().aclose()

    async def _exchanged(self, client: httpx.AsyncClient, request: httpx.Request) -> Received:
        response = await client.send(request, stream=True)
        try:
            body = await _whole(response, self._most)
        except InfrastructureFailure:
            # An error's status says what it is, whatever its body may be.
            if response.status_code < 400:
                raise
            body = b""
        finally:
            await response.aclose()
        return Received(response.status_code, response.headers, body)

    def _connected(self) -> httpx.AsyncClient:
        self._trust = self._trust or httpx.create_ssl_context()
        return httpx.AsyncClient(
            verify=self._trust,
            cookies=_NoCookies(),
            follow_redirects=False,
            event_hooks={"response": [self._refuse_redirect]},
        )

    async def _refuse_redirect(self, response: httpx.Response) -> None:
        if not 300 <= response.status_code < 400:
            return
        place = self._clean(response.headers.get("location", "nowhere"))[:200]
        raise InfrastructureFailure(
            f"status {response.status_code}: the endpoint redirects to {place!r}; redirects are "
            "not followed, give the address itself as api_base",
            kind="redirect",
            transient=False,
        )

    def _fault(self, what: str, error: Exception, kind: str) -> InfrastructureFailure:
        return InfrastructureFailure(self._clean(f"{what}: {error!r}")[:300], kind=kind)


class _NoCookies(CookieJar):
    """Keeps nothing that a reply asks to be kept."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        """Nothing."""


async def _whole(response: httpx.Response, most: int) -> bytes:
    """The unpacked body. Raises InfrastructureFailure where it is too large or badly packed."""
    unpack = _Unpacked(response.headers.get("content-encoding", ""))
    body = bytearray()
    async for piece in response.aiter_raw():
        body += unpack.piece(piece, most + 1 - len(body))
        if len(body) > most:
            raise InfrastructureFailure(
                f"a body of more than {most:,} bytes; body_mb in the model's pin says how much "
                "is read",
                kind="too_large",
            )
    return bytes(body)


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


def _badly_packed(what: str) -> InfrastructureFailure:
    return InfrastructureFailure(f"a body that is {what}", kind="not_json")
