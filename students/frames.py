"""Frames: the fixed wrapper around the one block that evolves.

A frame is text with slots written `{{name}}`, in the order preamble with transcript and note,
instruction block, output contract. All candidates of a campaign share everything before the block,
so a provider's prefix cache serves them. Slots are filled in a single pass: a note that contains
`{{block}}` or a closing marker changes nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from heldout.splits.hashing import sha256_text

SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
BLOCK_SLOT = "block"


@dataclass(frozen=True)
class Frame:
    """A prompt template; `slots` lists the names it fills, in order of appearance."""

    name: str
    template: str

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the slots, in order of appearance."""
        return tuple(SLOT.findall(self.template))

    @cached_property
    def sha256(self) -> str:
        """Hash of the template; it stands on every judgement and every candidate."""
        return sha256_text(self.template)

    def render(self, values: Mapping[str, str]) -> str:
        """The template with every slot filled in one pass.

        Raises KeyError when a slot has no value.
        """
        return SLOT.sub(lambda match: values[match.group(1)], self.template)

    def with_block(self, block: str) -> str:
        """The template with only the block filled in: what an emitted prompt file holds."""
        return SLOT.sub(
            lambda match: block if match.group(1) == BLOCK_SLOT else match.group(0), self.template
        )


def load_frame(name: str) -> Frame:
    """The frame that ships as `students/templates/<name>.txt`."""
    path = resources.files("heldout.students") / "templates" / f"{name}.txt"
    return Frame(name, path.read_text("utf-8"))


def load_block(name: str) -> str:
    """The instruction block that ships as `students/templates/blocks/<name>.txt`."""
    path = resources.files("heldout.students") / "templates" / "blocks" / f"{name}.txt"
    return path.read_text("utf-8").strip()
