"""A chat-completions server on loopback, fast enough to measure clients against.

Its answers come from a function of the request, so benchmarks give it a latency and tests give it
faults. Started as a module it runs in a process of its own and prints the port it listens on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

HEADER_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Request:
    """What came in: path, headers with lower-case names, and the JSON body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes out after `delay_s` seconds; with `cut`, half the body and then a reset."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    cut: bool = False


Respond = Callable[[Request], Answer]


def completion(text: str, *, model: str = "loopback", finish: str = "stop") -> dict[str, Any]:
    """The body of a well-formed reply; tokens are counted at four characters each."""
    tokens = max(1, len(text) // 4)
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens},
    }


def after(latency_s: float, text: str) -> Respond:
    """Answers every request with `text` after `latency_s` seconds."""
    body = json.dumps(completion(text)).encode()
    return lambda _request: Answer(body, delay_s=latency_s)


@dataclass
class Loopback:
    """The running server: `port`, and how many requests and connections it has seen."""

    respond: Respond
    port: int = 0
    requests: int = 0
    connections: int = 0
    lost: int = 0
    _open: set[_Connection] = field(default_factory=set)

    @property
    def api_base(self) -> str:
        """What a client is given as its endpoint."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> asyncio.Server:
        """Listen on loopback; port 0 takes a free one."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        return server

    def drop_all(self) -> None:
        """Reset every open connection."""
        for connection in list(self._open):
            connection.abort()


class _Connection(asyncio.Protocol):
    """One keep-alive HTTP/1.1 connection, one request at a time."""

    def __init__(self, server: Loopback) -> None:
        self._server, self._buffer = server, bytearray()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        self._server.connections += 1
        self._server._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._server._open.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._server.lost += 1

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(HEADER_END)
        if end < 0:
            return
        first, *lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        start = end + len(HEADER_END)
        stop = start + int(headers.get("content-length", "0"))
        if len(self._buffer) < stop:
            return
        body = json.loads(self._buffer[start:stop] or b"{}")
        del self._buffer[:stop]
        self._server.requests += 1
        answer = self._server.respond(Request(first.split(" ")[1], headers, body))
        if answer.delay_s:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(answer.delay_s, self._send, answer)
        else:
            self._send(answer)

    def _send(self, answer: Answer) -> None:
        self._timer = None
        if self._transport is None or self._transport.is_closing():
            return
        head = [f"HTTP/1.1 {answer.status} X", f"Content-Length: {len(answer.body)}"]
        if not any(name.lower() == "content-type" for name, _ in answer.headers):
            head.append("Content-Type: application/json")
        head += [f"{name}: {value}" for name, value in answer.headers]
        sent = "\r\n".join(head).encode("latin-1") + HEADER_END
        if answer.cut:
            self._transport.write(sent + answer.body[: len(answer.body) // 2])
            self._transport.abort()
        else:
            self._transport.write(sent + answer.body)


@contextmanager
def serving(respond: Respond, port: int = 0) -> Iterator[Loopback]:
    """A server on a thread of its own, gone when the block ends."""
    server, ready = Loopback(respond, port), threading.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        listening = await server.start()
        ready.set()
        await stopped.wait()
        listening.close()
        server.drop_all()
        # One turn, so that the connections hear of it before the loop goes.
        await asyncio.sleep(0)

    stopped = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join(10)
        loop.close()


def main() -> None:
    """Serve one text after a fixed latency until killed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-s", type=float, required=True)
    parser.add_argument("--text", default='{"score": 7}')
    options = parser.parse_args()

    async def forever() -> None:
        answer = after(options.latency_s, options.text)

        def respond(request: Request) -> Answer:
            if request.path.endswith("/count"):
                server.requests -= 1
                return Answer(str(server.requests).encode())
            return answer(request)

        server = Loopback(respond, options.port)
        listening = await server.start()
        print(server.port, flush=True)
        async with listening:
            await listening.serve_forever()

    asyncio.run(forever())


if __name__ == "__main__":
    main()
