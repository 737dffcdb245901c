"""What a frame asks: its parts, found again in the rendered messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from heldout.students.models.chat import Message

_SEAM = re.compile(r"\n</(?P<shut>[a-z_]+)>\n\s*<(?P<open>[a-z_]+)>\n")
_FIRST = re.compile(r"(?:^|\n)<(?P<open>transcript|facts|items|note|instructions)>\n")
ORDER = ("transcript", "facts", "items", "note", "instructions", "answer_format")
"""Parts in the order in which frames hold them; a frame may leave some out."""


@dataclass(frozen=True, slots=True)
class SeenPrompt:
    """The parts of one rendered frame; a part that the frame lacks is empty.

    `facts` are (id, text) of the facts or items listed.
    """

    transcript: str
    note: str
    block: str
    contract: str
    facts: tuple[tuple[str, str], ...]


def prompt_of(messages: Sequence[Message]) -> SeenPrompt | None:
    """The frame in `messages`, None if there is none.

    A retry repeats the conversation: the frame is the first message that holds one.
    """
    for message in messages:
        if message.role != "assistant" and "<answer_format>" in message.content:
            return parse(message.content)
    return None


@lru_cache(maxsize=64)
def parse(text: str) -> SeenPrompt | None:
    """The parts of a rendered frame.

    Texts may hold the frame's own markers. Of several seams into the instructions or the contract
    the last is the frame's, for what a note holds stands before them; between the texts the first.
    """
    first = _FIRST.search(text)
    seams = [m for m in _SEAM.finditer(text) if m["open"] in ORDER and m["shut"] in ORDER]
    closing = [m for m in seams if m["open"] == "answer_format"]
    if first is None or not closing:
        return None
    parts: dict[str, str] = {}
    end = text.rfind("\n</answer_format>")
    parts["answer_format"] = text[closing[-1].end() : end if end > 0 else len(text)]
    before, name = closing[-1].start(), closing[-1]["shut"]
    into = [m for m in seams if m["open"] == name and m.end() <= before + 1]
    if name == "instructions" and into:
        seam = into[-1]
        parts[name] = text[seam.end() : before]
        name, before = seam["shut"], seam.start()
    parts |= _texts(text, first, [m for m in seams if m.end() <= before + 1], name, before)
    return SeenPrompt(
        transcript=parts.get("transcript", ""),
        note=parts.get("note", ""),
        block=parts.get("instructions", ""),
        contract=parts["answer_format"],
        facts=_listed(parts.get("facts") or parts.get("items") or ""),
    )


def _texts(
    text: str, first: re.Match[str], seams: list[re.Match[str]], last: str, end: int
) -> dict[str, str]:
    """Parts from the first opening marker to `end`, where part `last` ends."""
    parts: dict[str, str] = {}
    name, start = first["open"], first.end()
    for seam in seams:
        if seam.start() < start - 1 or name == last:
            continue
        ahead = ORDER.index(seam["open"]) > ORDER.index(name)
        if seam["shut"] == name and ahead and seam["open"] != "instructions":
            parts[name] = text[start : seam.start()]
            name, start = seam["open"], seam.end()
    parts[name] = text[start:end]
    return parts


def _listed(text: str) -> tuple[tuple[str, str], ...]:
    """(id, text) of lines `id: text`."""
    pairs = (line.split(":", 1) for line in text.split("\n") if ":" in line)
    return tuple((key.strip(), value.strip()) for key, value in pairs)
