"""The requests to the reflector: a rewrite, a merge, a second request; and what they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from heldout.reflectors.payload import pack, truncation_note
from heldout.reflectors.reflector import MergeContext, RewriteContext
from heldout.students.frames import BLOCK_SLOT, SLOT, Frame

DEFAULT_MAX_WORDS = 400
DEFAULT_MAX_CHARACTERS = 3000
DEFAULT_PAYLOAD_TOKENS = 12_000


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


@dataclass(frozen=True, slots=True)
class Terms:
    """What a proposal must respect: the judge's frame, the length cap, the payload's budget.

    `payload_tokens` bounds traces and notes of one request, in estimated tokens.
    """

    frame: Frame
    cap: LengthCap = LengthCap()
    payload_tokens: int = DEFAULT_PAYLOAD_TOKENS

    def slots(self) -> dict[str, str]:
        """Values of the slots that every request fills."""
        return {
            "beginning": beginning(self.frame),
            "contract": contract(self.frame),
            "max_words": str(self.cap.words),
            "max_characters": str(self.cap.characters),
        }


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request to the reflector; `left_out` are ids of errored notes whose traces had no room."""

    text: str
    left_out: tuple[str, ...]


def beginning(frame: Frame) -> str:
    """The frame before its block, with the name of each slot in its place."""
    before = frame.template.partition(f"{{{{{BLOCK_SLOT}}}}}")[0]
    return SLOT.sub(lambda match: f"[here the judge sees: {match.group(1)}]", before).strip()


def contract(frame: Frame) -> str:
    """The frame after its block: the output contract, which no block may restate."""
    return frame.template.partition(f"{{{{{BLOCK_SLOT}}}}}")[2].strip()


def rewrite_prompt(context: RewriteContext, terms: Terms) -> Prompt:
    """What the reflector is asked for a mutation of `context.block`."""
    payload = pack(context.pairs, terms.payload_tokens, full_notes=True)
    text = load_template("reflect").render(
        {
            **terms.slots(),
            "block": context.block,
            "truncation": truncation_note(len(payload.left_out)),
            "cases": payload.cases,
            "notes": payload.notes,
        }
    )
    return Prompt(text, payload.left_out)


def merge_prompt(context: MergeContext, terms: Terms) -> Prompt:
    """What the reflector is asked for a block that unites two; either side gets half the room."""
    first = pack(context.first_wins, terms.payload_tokens // 2, full_notes=False)
    second = pack(context.second_wins, terms.payload_tokens // 2, full_notes=False)
    left_out = first.left_out + second.left_out
    text = load_template("merge").render(
        {
            **terms.slots(),
            "first": context.first,
            "second": context.second,
            "truncation": truncation_note(len(left_out)),
            "first_wins": first.cases,
            "second_wins": second.cases,
        }
    )
    return Prompt(text, left_out)


def retry_prompt(prompt: str, problem: str) -> str:
    """The second request after a reply without a usable block; one message, like the first.

    It does not repeat the unusable reply: some providers take no empty assistant turn.
    """
    return load_template("retry").render({"prompt": prompt, "problem": problem})
