"""The request for a merge: two blocks, each with the notes it wins over the other."""

from __future__ import annotations

from heldout.reflectors.payload import pack, truncation_note
from heldout.reflectors.prompts import Prompt, Terms, load_template
from heldout.reflectors.reflector import MergeContext


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
