"""Praat TextGrid files (long text form), as far as interval tiers go."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heldout.splits.errors import BadInput
from heldout.splits.loading.text_files import read_input

_INTERVAL = re.compile(
    r"intervals\s*\[\d+\]:?\s*xmin\s*=\s*(?P<start>[\d.eE+-]+)\s*"
    r'xmax\s*=\s*(?P<end>[\d.eE+-]+)\s*text\s*=\s*"(?P<text>(?:[^"]|"")*)"'
)
_HEADER = 'Object class = "TextGrid"'
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Utterance:
    """One interval: start in seconds, and its text with doubled quotes resolved."""

    start: float
    text: str


def read_textgrid(path: Path) -> list[Utterance]:
    """The intervals of a TextGrid, in order. Raises BadInput for anything else."""
    data = read_input(path).data
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8-sig")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput.one(str(path), f"is not {encoding} text: {error.reason}") from None
    if _HEADER not in text[:200]:
        raise BadInput.one(str(path), "is not a TextGrid in its long text form")
    return list(_intervals(text))


def _intervals(text: str) -> Iterator[Utterance]:
    for found in _INTERVAL.finditer(text):
        yield Utterance(float(found["start"]), found["text"].replace('""', '"'))
