"""What a frame asks, its parts found again in the rendered messages, and what is handed back."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from heldout.students.models.chat import Message

_SEAM = re.compile(r"\n</([a-z_]+)>\n\s*<([a-z_]+)>\n")
_FIRST = re.compile(r"(?:^|\n)<(transcript|facts|items|note|instructions)>\n")
ORDER = ("transcript", "facts", "items", "note", "instructions", "answer_format")
"""Parts in the order in which frames hold them; a frame may leave some out."""

TOKENS_A_WORD = 1.3


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


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply before the token cap is applied.

    `text` is the answer; `working` the tokens spent on the way to it, which a reasoning effort
    hides and which otherwise count as written.
    """

    text: str
    working: float


def tokens_of(text: str) -> int:
    """Tokens of `text`, estimated from its words."""
    return math.ceil(len(text.split()) * TOKENS_A_WORD)


def prompt_of(messages: Sequence[Message]) -> SeenPrompt | None:
    """The frame in `messages`, None if there is none.

    A retry repeats the conversation: the frame is the first message that holds one.
    """
    for message in messages:
        if message.role != "assistant" and "<answer_format>" in message.content:
            return parse(message.content)
    return None


@dataclass(frozen=True, slots=True)
class _Seam:
    """Where one part ends and the next begins: `end` is where its text starts."""

    shut: str
    open: str
    start: int
    end: int


@lru_cache(maxsize=64)
def parse(text: str) -> SeenPrompt | None:
    """The parts of a rendered frame.

    Texts may hold the frame's own markers. Of several seams into the instructions or the contract
    the last is the frame's, for what a note holds stands before them; between the texts the first.
    """
    first = _FIRST.search(text)
    found = (_Seam(m.group(1), m.group(2), m.start(), m.end()) for m in _SEAM.finditer(text))
    seams = [seam for seam in found if seam.open in ORDER and seam.shut in ORDER]
    closing = [seam for seam in seams if seam.open == "answer_format"]
    if first is None or not closing:
        return None
    contract_seam, block = closing[-1], ""
    end = text.rfind("\n</answer_format>")
    contract = text[contract_seam.end : end if end > 0 else len(text)]
    last, before = contract_seam.shut, contract_seam.start
    into = [seam for seam in seams if seam.open == last and seam.end <= before + 1]
    if last == "instructions" and into:
        block = text[into[-1].end : before]
        last, before = into[-1].shut, into[-1].start
    inner = [seam for seam in seams if seam.end <= before + 1]
    parts = {"instructions": block, **_texts(text, first, inner, last, before)}
    transcript, facts, items, note, block = (parts.get(name, "") for name in ORDER[:-1])
    return SeenPrompt(transcript, note, block, contract, _listed(facts or items))


def _texts(
    text: str, first: re.Match[str], seams: list[_Seam], last: str, end: int
) -> dict[str, str]:
    """Parts from the first opening marker to `end`, where part `last` ends."""
    parts: dict[str, str] = {}
    name, start = first.group(1), first.end()
    for seam in seams:
        if seam.start < start - 1 or name == last:
            continue
        ahead = ORDER.index(seam.open) > ORDER.index(name)
        if seam.shut == name and ahead and seam.open != "instructions":
            parts[name] = text[start : seam.start]
            name, start = seam.open, seam.end
    parts[name] = text[start:end]
    return parts


def _listed(text: str) -> tuple[tuple[str, str], ...]:
    """(id, text) of lines `id: text`."""
    pairs = (line.split(":", 1) for line in text.split("\n") if ":" in line)
    return tuple((key.strip(), value.strip()) for key, value in pairs)
