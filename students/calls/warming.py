"""Warming prefixes: one call reads the transcript, then the others find it in the provider's cache.

Prompts begin with what all candidates share, preamble and transcript, and providers cache prompts
by their beginning. Calls about one consultation that are sent at the same moment all miss that
cache; so the first goes ahead and the rest follow when it is back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from heldout.splits.hashing import sha256_text
from heldout.students.calls.call import CallSpec

SHORTEST = 4096
"""Characters, about 1024 tokens: what the common providers cache at least."""

STAYS_S = 240.0
"""How long a prefix is taken to stay cached after its last use; providers say five minutes."""


class Prefixes:
    """Who warms which prefix. `clock` gives seconds that never run backwards."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, float] = {}
        self._warming: dict[str, asyncio.Event] = {}

    async def turn(self, spec: CallSpec) -> str | None:
        """Wait while another call warms the prefix of `spec`.

        A prefix to give to `warmed` once this call is back, None if it warms nothing.
        """
        prefix = _prefix(spec)
        if prefix is None:
            return None
        while True:
            now = self._clock()
            if now - self._used.get(prefix, -STAYS_S) < STAYS_S:
                self._used[prefix] = now
                return None
            ahead = self._warming.get(prefix)
            if ahead is None:
                self._warming[prefix] = asyncio.Event()
                return prefix
            await ahead.wait()

    def warmed(self, prefix: str, *, answered: bool) -> None:
        """The call that warmed `prefix` is over; unless it was answered another one goes ahead."""
        if answered:
            self._used[prefix] = self._clock()
        self._warming.pop(prefix).set()


def _prefix(spec: CallSpec) -> str | None:
    """The beginning of a prompt, by model; None for one too short to be cached."""
    text = "\x1e".join(message.content for message in spec.messages)
    if len(text) < SHORTEST:
        return None
    return sha256_text(f"{spec.pin.id}\x1e{text[:SHORTEST]}")
