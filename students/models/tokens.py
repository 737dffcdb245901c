"""Tokens counted here, for endpoints that do not count them: an estimate, and called one.

The tokenizer is one of OpenAI's, from the files that come with LiteLLM; another model's differs by
a tenth or two on English text, more in other scripts. Without it, bytes are counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from heldout.students.models.chat import BYTES_A_TOKEN, TOKENS_A_MESSAGE, Message, Usage

PIECE = 4_000
"""Characters counted at once: the time for one long run of letters grows with its square."""


def estimated(messages: Sequence[Message], text: str, reasoning: str) -> Usage:
    """The usage of a call as far as its texts show it; hidden reasoning is not in it."""
    prompt = sum(count_tokens(m.content) + TOKENS_A_MESSAGE for m in messages)
    thought = count_tokens(reasoning)
    return Usage(prompt, count_tokens(text) + thought, thought, estimated=True)


def count_tokens(text: str) -> int:
    """Tokens of `text`, at least 1 where it has any character."""
    encoding = _encoding()
    if encoding is None:
        return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)
    pieces = (text[start : start + PIECE] for start in range(0, len(text), PIECE))
    return sum(len(encoding.encode_ordinary(piece)) for piece in pieces)


@cache
def _encoding() -> Any:
    # Found, not imported: LiteLLM takes seconds. Without its files tiktoken would ask the network.
    found = find_spec("litellm")
    for folder in (found.submodule_search_locations or ()) if found else ():
        files = Path(folder) / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(files))
    try:
        import tiktoken  # noqa: PLC0415 - only what has to estimate pays for it
    except ImportError:  # an exported judge may run where there is none
        return None
    return tiktoken.get_encoding("cl100k_base")
