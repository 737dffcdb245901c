"""Counts in words: one note, two notes."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`count` with its noun, as in «1 note» and «0 notes»; `plural` where an s is not enough."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"
