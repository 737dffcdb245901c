"""What fits: traces and full notes packed into a token budget, with a record of what did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heldout.reflectors.reflector import JudgedPair
from heldout.reflectors.traces import failures_first, trace

CHARACTERS_A_TOKEN = 4
MIN_PAYLOAD_TOKENS = 2000
"""A trace never needs more than this, so a budget of at least this much always shows one."""


HEAD = "The clean twins in full, to see what kind of note this is:\n"
OPENING, CLOSING = "<clean_notes>\n", "\n</clean_notes>\n\n"


def estimate_tokens(text: str) -> int:
    """Tokens of `text` by the rule of thumb of four characters a token, rounded up.

    An estimate is enough for a budget that guards against payloads too large by orders of
    magnitude; the exact count of every call stands in its usage.
    """
    return -(-len(text) // CHARACTERS_A_TOKEN)


@dataclass(frozen=True, slots=True)
class Payload:
    """Traces that fit a budget.

    `cases` and `notes` are text for the prompt. `shown` and `left_out` are ids of errored notes,
    failures first.
    """

    cases: str
    notes: str
    shown: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def untagged_notes(self) -> str:
        """The same notes without the tag around them."""
        inner = self.notes.removeprefix(HEAD + OPENING).removesuffix(CLOSING)
        return f"{HEAD}\n{inner}\n\n" if self.notes else ""


def truncation_note(left_out: int) -> str:
    """One sentence for the prompt: that all cases are shown, or how many are not."""
    if not left_out:
        return "All cases are shown."
    return f"Left out for want of room: {left_out}."


def pack(pairs: Sequence[JudgedPair], tokens: int, *, full_notes: bool) -> Payload:
    """The traces of `pairs` in at most `tokens` estimated tokens, failures first.

    A trace that does not fit is left out and the next one tried. With `full_notes` the room that
    remains goes to the full text of the clean twins of the cases shown. Raises ValueError for a
    budget that might not hold a single trace.
    """
    if tokens < MIN_PAYLOAD_TOKENS:
        raise ValueError(f"a payload of {tokens} tokens; at least {MIN_PAYLOAD_TOKENS} are needed")
    room = tokens
    traces: list[str] = []
    shown: list[JudgedPair] = []
    left_out: list[str] = []
    for pair in failures_first(pairs):
        text = trace(pair, len(traces) + 1)
        cost = estimate_tokens(text) + 1
        if cost > room:
            left_out.append(pair.errored.id)
            continue
        room -= cost
        traces.append(text)
        shown.append(pair)
    return Payload(
        "\n\n".join(traces) or "(no case)",
        _pack_notes(shown, room) if full_notes else "",
        tuple(pair.errored.id for pair in shown),
        tuple(left_out),
    )


def _pack_notes(shown: Sequence[JudgedPair], room: int) -> str:
    """Full clean twins in at most `room` tokens, each once, under the numbers of its cases."""
    cases: dict[str, list[int]] = {}
    texts: dict[str, str] = {}
    for number, pair in enumerate(shown, start=1):
        cases.setdefault(pair.clean.id, []).append(number)
        texts[pair.clean.id] = pair.clean.text
    entries: list[str] = []
    room -= estimate_tokens(HEAD + OPENING + CLOSING)
    for note, numbers in cases.items():
        entry = f"## Clean twin of case {', '.join(map(str, numbers))}\n{texts[note].strip()}"
        cost = estimate_tokens(entry) + 1
        if cost <= room:
            room -= cost
            entries.append(entry)
    return f"{HEAD}{OPENING}{chr(10).join(entries)}{CLOSING}" if entries else ""
