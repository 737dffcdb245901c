"""The request for a rewrite: current block, failures, terms."""

from __future__ import annotations

from heldout.reflectors.payload import pack, truncation_note
from heldout.reflectors.prompts import Prompt, Terms, load_template
from heldout.reflectors.reflector import RewriteContext


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
