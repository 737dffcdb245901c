"""Lines of canonical JSON, each with its own hash: how looks and their registry are laid out."""

from __future__ import annotations

import json
from typing import Any

from heldout.splits.chain import ChainedLine, LineChanged
from heldout.splits.hashing import canonical_json, sha256_json


class HashedLines:
    """How such a line stands in its file; see `LineFormat`."""

    first, noun, completes = 1, "line of JSON", True

    def __init__(self, genesis: str, origin: str) -> None:
        self.genesis, self.origin = genesis, origin

    def parse(self, raw: bytes) -> ChainedLine[dict[str, Any]]:
        """The content of a line, its number and the hash before it among it."""
        line = json.loads(raw)
        own = line.pop("hash")
        if sha256_json(line) != own:
            raise LineChanged
        return ChainedLine(line["n"], line["previous"], own, line)

    def compose(
        self, number: int, previous: str, content: dict[str, Any]
    ) -> tuple[bytes, ChainedLine[dict[str, Any]]]:
        """The bytes of a new line, and the line as it will be read."""
        line = {**content, "n": number, "previous": previous}
        own = sha256_json(line)
        raw = canonical_json({**line, "hash": own}).encode() + b"\n"
        return raw, ChainedLine(number, previous, own, line)
