"""What is printed: for a terminal of any encoding, a pipe of any width, and texts from anywhere."""

from __future__ import annotations

import codecs
import sys
from typing import TYPE_CHECKING, Any, TextIO

from heldout.splits.visible import json_text, visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_COLUMNS = 10_000
"""Width of what is no terminal: nothing is cut that a program may read."""

_PLAIN = {
    "…": "...",
    "–": "-",
    "—": "-",
    "·": ".",
    "█": "#",
    "→": "->",
    "↔": "<->",
    "×": "x",
    "±": "+-",
    "«": '"',
    "»": '"',
    "≥": ">=",
    "≤": "<=",
    "\u2212": "-",
    "\u2019": "'",
}
"""Our own signs in letters that every terminal has."""


def show(value: dict[str, Any] | list[Any] | str | RenderableType) -> None:
    """Print a result on standard output: JSON values as JSON, text as it is, the rest by rich."""
    if isinstance(value, dict | list):
        print(json_text(value, indent=2, ascii_only=not _is_unicode(sys.stdout)))
    elif isinstance(value, str):
        print(visible(value))
    else:
        console_on(sys.stdout).print(value)


def note(line: object) -> None:
    """A line of progress or a fault, on standard error."""
    print(visible(str(line)), file=sys.stderr, flush=True)


def console_on(stream: TextIO) -> Console:
    """Rich on `stream`, which cuts lines to the width of a terminal where there is one."""
    from rich.console import Console  # noqa: PLC0415

    return Console(file=stream, width=None if stream.isatty() else PIPE_COLUMNS)


def take_any_letter() -> None:
    """Let standard output and error print every text, whatever the terminal's encoding.

    A sign of ours becomes letters, another one its escape; nothing is left out.
    """
    codecs.register_error("heldout.plain", _in_letters)
    for stream in (sys.stdout, sys.stderr):
        # A stream that a test or a notebook put there may be of another class.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="heldout.plain")


def _in_letters(error: UnicodeError) -> tuple[str, int]:
    """Takes the place of signs that an encoding does not have; see `codecs.register_error`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    escaped = (_PLAIN.get(s) or s.encode("ascii", "backslashreplace").decode() for s in signs)
    return "".join(escaped), error.end


def _is_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf")
