"""What a block only shows, as against what it says: quotations, examples, struck-out text."""

from __future__ import annotations

import re

SHOWN = "QUOTED"
"""Stands where quoted words stood."""

_FENCE = re.compile(r"```.*?(?:```|\Z)|<!--.*?(?:-->|\Z)|~~.*?~~", re.S)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.M)
_PAIRS = re.compile(
    r"“[^”\n]*(?:”|$)|«[^»\n]*(?:»|$)|„[^“”\n]*(?:[“”]|$)|‹[^›\n]*(?:›|$)"
    r'|"[^"\n]*(?:"|$)|`[^`\n]*(?:`|$)|(?<![\w’])‘[^\n]*?(?:’(?!\w)|$)'
    r"|(?<![\w'])'[^'\n]*(?:'\w[^'\n]*)*'(?!\w)",
    re.M,
)


def _unquote(match: re.Match[str]) -> str:
    inner = match.group().strip("“”«»„‹›\"`‘’' \t.,;:!?")
    # One quoted word is a label («absent») or emphasis, and carries the sentence it stands in.
    return inner if len(inner.split()) == 1 else f" {SHOWN} "


def without_quotations(text: str) -> str:
    """`text` with each quotation of two words or more replaced by `SHOWN`."""
    text = _QUOTED_LINE.sub(f"{SHOWN}.", _FENCE.sub(f" {SHOWN} ", text))
    return _PAIRS.sub(_unquote, text)
