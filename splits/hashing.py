"""Canonical JSON and content hashes: what makes two things the same thing.

Ids are hashes of content, never list positions, so a score can never be served for another note
because two lists happened to have the same length.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

ID_HEX = 16
"""Length of a content id in hexadecimal digits: 64 bits, no collision at the sizes met here."""


def canonical_json(value: Any) -> str:
    """The one JSON text of `value`: sorted keys, no spaces, UTF-8 kept.

    Raises ValueError for NaN and infinities, which JSON does not have.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def sha256_text(text: str) -> str:
    """SHA-256 of the UTF-8 bytes of `text`, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_json(value: Any) -> str:
    """SHA-256 of the canonical JSON of `value`."""
    return sha256_text(canonical_json(value))


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in blocks."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def content_id(kind: str, *parts: str) -> str:
    """A short id of content: the first `ID_HEX` digits of SHA-256 over `kind` and `parts`."""
    return sha256_json([kind, *parts])[:ID_HEX]
