"""The requests to the reflector: a rewrite, a merge, a second request; and what they share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

from heldout.reflectors.payload import pack, truncation_note
from heldout.reflectors.reflector import MergeContext, RewriteContext
from heldout.students.frames import BLOCK_SLOT, SLOT, Frame

DEFAULT_MAX_WORDS = 400
DEFAULT_MAX_CHARACTERS = 3000
DEFAULT_PAYLOAD_TOKENS = 12_000
TAG = re.compile(r"^</?[a-z_]+>\n?", re.MULTILINE)
"""A tag of a frame on its line."""


@cache
def load_template(name: str) -> Frame:
    """The template that ships as `reflectors/templates/<name>.txt`; filled in a single pass."""
    path = resources.files("heldout.reflectors") / "templates" / f"{name}.txt"
    return Frame(name, path.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class LengthCap:
    """The longest block allowed, in words (white space between) and in characters."""

    words: int = DEFAULT_MAX_WORDS
    characters: int = DEFAULT_MAX_CHARACTERS

    def exceeded_by(self, block: str) -> str | None:
        """What `block` exceeds, in words for a log; None if it keeps the cap."""
        words = len(block.split())
        if words > self.words:
            return f"{words} words, at most {self.words} allowed"
        if len(block) > self.characters:
            return f"{len(block)} characters, at most {self.characters} allowed"
        return None


class Layout(StrEnum):
    """The order of a request.

    `block_last` ends with what the answer is made of: the block in use and the form of the reply.
    Nothing near them looks like a reply, for a weak model writes what it read last: it repeats tags
    until its cap, and answers the judge's contract where that stands close by.

    `block_first` is the first order that there was; runs that began
    with it and the simulated reflector keep it, or their requests would be others than on record.
    """

    BLOCK_LAST = "block_last"
    BLOCK_FIRST = "block_first"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a proposal must respect: the judge's frame, the length cap, the payload's budget.

    `payload_tokens` bounds traces and notes of one request, in estimated tokens; `layout` is the
    order of the request.
    """

    frame: Frame
    cap: LengthCap = LengthCap()
    payload_tokens: int = DEFAULT_PAYLOAD_TOKENS
    layout: Layout = Layout.BLOCK_LAST

    def slots(self, *, in_object: bool = False) -> dict[str, str]:
        """Values of the slots that every request fills, but for those that it has no slot for.

        `in_object`: the reply is a JSON object instead of a text between markers.
        """
        seen = beginning(self.frame)
        judged = contract(self.frame)
        if self.layout is Layout.BLOCK_LAST:
            seen, judged = TAG.sub("", seen).strip(), TAG.sub("", judged).strip()
        return {
            "beginning": seen,
            "contract": judged,
            "max_words": str(self.cap.words),
            "max_characters": str(self.cap.characters),
            "answer": load_template("answer_object" if in_object else "answer_markers").template,
        }

    def template(self, name: str) -> Frame:
        """The template called `name` in the order of these terms."""
        first = self.layout is Layout.BLOCK_FIRST
        return load_template(f"{name}_{self.layout}" if first else name)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request to the reflector, made by `terms`.

    `left_out` are ids of errored notes whose traces had no room; `answer` is the form of the reply.
    """

    text: str
    left_out: tuple[str, ...]
    terms: Terms
    answer: str


def beginning(frame: Frame) -> str:
    """The frame before its block, with the name of each slot in its place."""
    before = frame.template.partition(f"{{{{{BLOCK_SLOT}}}}}")[0]
    return SLOT.sub(lambda match: f"[here the judge sees: {match.group(1)}]", before).strip()


def contract(frame: Frame) -> str:
    """The frame after its block: the output contract, which no block may restate."""
    return frame.template.partition(f"{{{{{BLOCK_SLOT}}}}}")[2].strip()


def rewrite_prompt(context: RewriteContext, terms: Terms, *, in_object: bool = False) -> Prompt:
    """What the reflector is asked for a mutation of `context.block`; `in_object` as in `Terms`."""
    payload = pack(context.pairs, terms.payload_tokens, full_notes=True)
    first = terms.layout is Layout.BLOCK_FIRST
    slots = {
        **terms.slots(in_object=in_object),
        "block": context.block,
        "truncation": truncation_note(len(payload.left_out)),
        "cases": payload.cases,
        "notes": payload.notes if first else payload.untagged_notes,
    }
    text = terms.template("reflect").render(slots)
    return Prompt(text, payload.left_out, terms, slots["answer"])


def merge_prompt(context: MergeContext, terms: Terms, *, in_object: bool = False) -> Prompt:
    """What the reflector is asked for a block that unites two; either side gets half the room."""
    first = pack(context.first_wins, terms.payload_tokens // 2, full_notes=False)
    second = pack(context.second_wins, terms.payload_tokens // 2, full_notes=False)
    left_out = first.left_out + second.left_out
    slots = {
        **terms.slots(in_object=in_object),
        "first": context.first,
        "second": context.second,
        "truncation": truncation_note(len(left_out)),
        "first_wins": first.cases,
        "second_wins": second.cases,
    }
    return Prompt(terms.template("merge").render(slots), left_out, terms, slots["answer"])


def retry_prompt(prompt: Prompt, problem: str) -> str:
    """The second request after a reply without a usable block; one message, like the first.

    It does not repeat the unusable reply: some providers take no empty assistant turn.
    """
    slots = {"prompt": prompt.text, "problem": problem, "answer": prompt.answer}
    return prompt.terms.template("retry").render(slots)
