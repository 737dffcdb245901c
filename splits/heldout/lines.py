"""Lines of canonical JSON, each with its own hash: the file of looks, and of their registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from heldout.splits.chain import ChainedLine, ChainFile, LineChanged
from heldout.splits.errors import BadInput, JournalBroken
from heldout.splits.hashing import canonical_json, sha256_json

Line = dict[str, Any]

LOCK_SECONDS = 30.0
"""How long an append waits for another process."""


class HashedLines:
    """How such a line stands in its file; see `LineFormat`."""

    first, noun, completes = 1, "line of JSON", True

    def __init__(self, genesis: str, origin: str) -> None:
        self.genesis, self.origin = genesis, origin

    def parse(self, raw: bytes) -> ChainedLine[Line]:
        """The content of a line, its number and the hash before it among it."""
        line = json.loads(raw)
        own = line.pop("hash")
        if sha256_json(line) != own:
            raise LineChanged
        return ChainedLine(line["n"], line["previous"], own, line)

    def compose(self, number: int, previous: str, content: Line) -> tuple[bytes, ChainedLine[Line]]:
        """The bytes of a new line, and the line as it will be read."""
        line = {**content, "n": number, "previous": previous}
        own = sha256_json(line)
        raw = canonical_json({**line, "hash": own}).encode() + b"\n"
        return raw, ChainedLine(number, previous, own, line)


@contextmanager
def trusted() -> Iterator[None]:
    """Raises BadInput where the chain of lines breaks."""
    try:
        yield
    except JournalBroken as error:
        message = f"{error.detail}; the looks on record cannot be trusted"
        raise BadInput.one(f"{error.path}:{error.line}", message) from error


@contextmanager
def appending(
    path: Path, layout: HashedLines
) -> Iterator[tuple[ChainFile[Line, Line], list[Line]]]:
    """The file at `path`, locked and open for appending, and its lines. Raises BadInput."""
    chain = ChainFile(path, layout)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=LOCK_SECONDS), trusted(), closing(chain):
            yield chain, chain.open()
    except Timeout:
        message = f"locked by another process for {LOCK_SECONDS:g} s"
        raise BadInput.one(str(path), message) from None
    except OSError as error:
        raise BadInput.one(str(path), f"cannot be written: {error.strerror}") from error
