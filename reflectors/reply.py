"""The reply contract: the new block between two marker lines, exactly once, or in one JSON object.

Strict on purpose. An extractor that takes the first fence to the last, or a reply without any
fence, turns the reflector's own musings into the judge's instructions.

What stands around a block inside its markers is taken off where it is plain: fences, a tag around
the whole, a heading or a sentence that speaks of the block itself. What may be such dressing but
stands in the midst of the block is a problem: the reflector is asked again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from heldout.splits.visible import without_signs
from heldout.students.contracts import SHORTEST, Violation, ViolationKind, one_answer
from heldout.students.replies import ReplyObject, folded
from heldout.students.structured import Schema, record, text

OPEN = "<<<BLOCK"
CLOSE = "BLOCK>>>"
FIELD = "block"
OBJECT_TOKENS = 30
"""Tokens of the object around a block, at most."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,}|\"{3,}|'{3,})\s*[\w+.-]*\s*$")
_OPENING_TAG = re.compile(r"^\s*<([A-Za-z][\w-]*)(?:\s[^<>]*)?>")
_TAG = re.compile(r"^\s*</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>\s*$")
_THING = r"(?:block|instructions?|prompt|version|rewrite|draft)"
_MADE = r"(?:new|revised|improved|updated|rewritten|refined|modified|merged|combined|better)"
_HEADING = re.compile(
    rf"(?:(?:the|my|your) )?(?:(?:{_MADE}|final|complete|judging|judge) )*{_THING}(?: block| text)?"
    r"(?: for (?:the|a) judge[\w ]*)?(?: \([^()]*\))?:?"
)
_YES = re.compile(r"^(?:sure|certainly|of course|absolutely|okay|ok|great|understood|gladly)\b\W*")
_LEAD = re.compile(
    r"^(?:here(?:'s| is| are)|below(?:'s| is| are)|the following (?:is|are)|this is|i(?:'ve| have)|"
    r"i (?:re|up|im|com|mod|add|mad|wr)\w+|my|as (?:asked|requested))\b"
    rf"(?:.*\b{_MADE}\b.*\b{_THING}\b|.*\b{_THING}\b.*:$|.*\b{_MADE}\b.*:$)|^here you go\b"
)
_TRAIL = re.compile(
    r"^(?:please )?(?:let me know|feel free|i hope|hope (?:this|that|it)|would you like)\b"
    rf"|^(?:i(?:'ve| have)|i (?:re|up|im|com|mod|add|mad|wr)\w+)\b.*\b(?:{_THING}|{_MADE})\b"
    rf"|^(?:this|the) {_MADE} {_THING}\b.* "
    r"(?:keeps?|is|has|was|now|should|will|adds?|includes?|closes)\b"
    r"|^if you (?:need|want|would like|have) (?:any|more|further|other|me)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class ExtractedBlock:
    """The block of a reply, or None and the `problem` in words for the second request."""

    block: str | None
    problem: str = ""

    @property
    def usable(self) -> bool:
        """True if there is a block with something in it."""
        return bool(self.block)


@dataclass(frozen=True, slots=True)
class BlockContract:
    """The reply of a reflector, read like every other reply.

    `characters` is the longest block; `in_object` tells what was asked for, either form is read.
    """

    characters: int
    in_object: bool = False

    def parse(self, reply: str) -> ExtractedBlock | Violation:
        """The block, or the violation that says what is wrong; an empty block is a block."""
        found = extract_block(reply)
        if found.block is None and self.in_object and OPEN in found.problem:
            return Violation(ViolationKind.NO_OBJECT, f'it is no JSON object with a "{FIELD}"')
        if found.block is None:
            return Violation(ViolationKind.NO_OBJECT, found.problem)
        return found

    def schema(self, tokens: int) -> Schema:
        """One object with the block, which fits under the cap of the reply."""
        return record(**{FIELD: text(tokens - OBJECT_TOKENS, self.characters, least=SHORTEST)})


def extract_block(reply: str) -> ExtractedBlock:
    """The one block of `reply`, undressed.

    The markers stand alone on their lines, white space aside, each once, in order. Without any
    marker a reply that is one JSON object with a text `block` holds its block there. An empty block
    is returned as an empty text, which is not usable. A marker in the midst of a line is left to
    the guard, which looks for copied text first. Never raises.
    """
    lines = _LINE_END.split(reply)
    opened = [row for row, line in enumerate(lines) if line.strip() == OPEN]
    closed = [row for row, line in enumerate(lines) if line.strip() == CLOSE]
    if not opened and not closed:
        return _in_object(reply, lines)
    if not opened or not closed:
        missing = CLOSE if opened else OPEN
        return ExtractedBlock(None, f"it has no line that holds only {missing}")
    if len(opened) > 1 or len(closed) > 1:
        return ExtractedBlock(None, "it has more than one block")
    if closed[0] < opened[0]:
        return ExtractedBlock(None, f"the line {CLOSE} stands before the line {OPEN}")
    return _undressed(lines[opened[0] + 1 : closed[0]])


def _in_object(reply: str, lines: list[str]) -> ExtractedBlock:
    """The block of a reply that is a JSON object, fences aside."""
    shown = [line for line in lines if not _FENCE.match(line)]
    bare = "\n".join(shown).strip()
    if not (bare.startswith("{") and bare.endswith("}")):
        return ExtractedBlock(None, f"it has no line that holds only {OPEN}")
    found = one_answer(reply, FIELD, _block_of, lambda block: f"{len(block)} characters")
    if isinstance(found, Violation):
        return ExtractedBlock(None, found.detail)
    return _undressed(_LINE_END.split(found))


def _block_of(found: ReplyObject) -> str | Violation:
    block = found.one(FIELD)
    if isinstance(block, str):
        return block
    return Violation(ViolationKind.WRONG_TYPE, f'"{FIELD}" must be a text')


def _undressed(inside: list[str]) -> ExtractedBlock:
    """The block in the lines between the markers, without what speaks of it or wraps it."""
    # No instruction needs a sign that acts on a terminal or hides; the prompt is made of the block.
    lines = [without_signs(line).rstrip() for line in inside]
    if not any(lines):
        return ExtractedBlock("", "its block is empty")
    before: list[str] = []
    while lines != before:
        before = lines
        lines = _unwrapped(_without_talk(lines))
    odd = next((line for line in lines if _is_dressing(line)), None)
    if odd is not None:
        return ExtractedBlock(
            None, "its block holds a fence, a tag or a sentence about itself; write the block alone"
        )
    block = "\n".join(lines).strip()
    return ExtractedBlock(block, "" if block else "its block is empty")


def _trimmed(lines: list[str]) -> list[str]:
    """Without empty lines at either end."""
    rows = [row for row, line in enumerate(lines) if line.strip()]
    return lines[rows[0] : rows[-1] + 1] if rows else []


def _without_talk(lines: list[str]) -> list[str]:
    """Without a beginning that announces the block and an end that takes its leave."""
    if lines:
        head, colon, rest = lines[0].partition(":")
        if colon and rest.strip(" *_") and _announces(head + colon):
            lines = [rest.lstrip(" *_"), *lines[1:]]
        elif _announces(lines[0]):
            lines = lines[1:]
    if lines:
        said = _SENTENCE.split(lines[-1])
        while said and _TRAIL.match(_said(said[-1])):
            said.pop()
        kept = lines[-1] if len(said) == len(_SENTENCE.split(lines[-1])) else " ".join(said)
        lines = [*lines[:-1], kept]
    return _trimmed(lines)


def _unwrapped(lines: list[str]) -> list[str]:
    """Without a fence or a tag around the whole."""
    if not lines:
        return lines
    fences = [row for row, line in enumerate(lines) if _FENCE.match(line)]
    if fences == [0, len(lines) - 1] or fences in ([0], [len(lines) - 1]):
        return [line for line in lines if not _FENCE.match(line)]
    tag = _OPENING_TAG.match(lines[0])
    closing = tag and f"</{tag[1]}>"
    if tag and closing and lines[-1].rstrip().endswith(closing) and _is_one_tag(lines, tag[1]):
        inner = "\n".join(lines)[tag.end() :].rstrip()
        return inner.removesuffix(closing).split("\n")
    return lines


def _is_one_tag(lines: list[str], name: str) -> bool:
    """True where the tag `name` opens and closes once: it is around the whole."""
    whole = "\n".join(lines)
    return whole.count(f"</{name}>") == 1 and len(re.findall(rf"<{name}[\s>]", whole)) == 1


def _is_dressing(line: str) -> bool:
    """True for a line that is no instruction, wherever it stands."""
    wraps = _FENCE.match(line) or _TAG.match(line)
    return bool(wraps) or _announces(line) or bool(_TRAIL.match(_said(line)))


def _announces(line: str) -> bool:
    """True for a line that speaks of the block instead of being part of it."""
    said = _said(line)
    rest = _YES.sub("", said)
    if rest != said and (not rest or _LEAD.match(rest)):
        return True
    is_heading = line.lstrip().startswith(("#", "*", "_", "=")) or said.endswith(":")
    return bool(_LEAD.match(said)) or (is_heading and bool(_HEADING.fullmatch(said)))


def _said(line: str) -> str:
    """A line as it reads: no marks of headings, quotes or emphasis."""
    return folded(line).replace("’", "'").strip(' #*_>=`"“”-')
