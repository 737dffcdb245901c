"""The wire: one HTTP request, its whole reply within bounds, and nothing sent anywhere else.

Both doors send through it, so the same bytes mean the same on either. A reply is bounded while it
is read and after it is unpacked, a redirect is never followed (it would carry key and notes to
another host), and cookies are not kept: no call may change the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from http.cookiejar import CookieJar
from typing import Any

import httpx

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.chat import BODY_BYTES
from heldout.students.models.received import ENCODINGS, Received, Receiving, refuse_redirect
from heldout.students.models.secrets import Redact

CONNECT_S = 20.0
"""How long opening a connection may take; the caller bounds the whole request."""


LARGE, LARGE_AT_ONCE = 500_000, 4
"""Bodies of more bytes are read on a few at a time: all that is in flight may be of that kind."""


class Wire:
    """Sends requests, each once. `most` bounds a body in bytes; `clean` masks what is told of it.

    To be closed with `aclose`, in the event loop that sent.
    """

    def __init__(self, clean: Redact, most: int = BODY_BYTES) -> None:
        self._clean, self._most = clean, most
        self._idle: list[httpx.AsyncClient] = []
        self._trust: Any = None
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)

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
            reply = Receiving(response.status_code, response.headers, self._most)
            async with AsyncExitStack() as slot:
                waited = False
                async for piece in response.aiter_raw():
                    reply.take(piece)
                    if reply.over:
                        break
                    if reply.size > LARGE and not waited:
                        waited = True
                        await slot.enter_async_context(self._large)
        finally:
            await response.aclose()
        return reply.whole()

    def _connected(self) -> httpx.AsyncClient:
        self._trust = self._trust or httpx.create_ssl_context()
        return httpx.AsyncClient(
            verify=self._trust,
            cookies=_NoCookies(),
            follow_redirects=False,
            # Before httpx looks at the address, which may be none.
            event_hooks={"response": [self._refuse_redirect]},
        )

    async def _refuse_redirect(self, response: httpx.Response) -> None:
        refuse_redirect(response.status_code, response.headers, self._clean)

    def _fault(self, what: str, error: Exception, kind: str) -> InfrastructureFailure:
        return InfrastructureFailure(self._clean(f"{what}: {error!r}")[:300], kind=kind)


class _NoCookies(CookieJar):
    """Keeps nothing that a reply asks to be kept."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        """Nothing."""
