"""What every reflector prompt shares: its templates, the fixed parts of the judge, the terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

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


def retry_prompt(prompt: str, problem: str) -> str:
    """The second request after a reply without a usable block; one message, like the first.

    It does not repeat the unusable reply: some providers take no empty assistant turn.
    """
    return load_template("retry").render({"prompt": prompt, "problem": problem})
