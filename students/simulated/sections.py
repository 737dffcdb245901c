"""Sections of a note: which headings it has, and where facts of a kind are at home."""

from __future__ import annotations

import re

from heldout.students.simulated.lexicon import WORDS

_LINE = re.compile(
    r"^[ \t]*(?P<head>[A-Za-z][A-Za-z /&'’()-]{0,48}?)[ \t]*(?:(?P<colon>:)(?P<alone>[ \t]*$)?|$)",
    re.M,
)
_PATTERNS = tuple(
    (kind, re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.I))
    for kind, words in WORDS.read("section_kinds", dict[str, str]).items()
)
_MEDICAL_HISTORY = re.compile(r"\b(?:past|medical|surgical|drug|family|social)\b", re.I)

SECTION_NAMES = WORDS.read("section_names", dict[str, str])
"""Section kinds by the names that a placed extraction uses."""

_HOMES = WORDS.read("homes", dict[str, str])
_PHASE_HOMES = WORDS.read("phase_homes", dict[str, str])


def kinds_of(heading: str, *, alone: bool = True) -> frozenset[str]:
    """The section kinds that `heading` names; none for an unknown heading.

    A heading that shares its line with text (not `alone`) has to be the known words and no more:
    «Plan: rest» is one, «Advice given: rest» is a sentence.
    """
    found = {
        kind
        for kind, pattern in _PATTERNS
        if (pattern.search(heading) if alone else pattern.fullmatch(heading))
    }
    if "history" in found and (found - {"history"}) and _MEDICAL_HISTORY.search(heading):
        found.discard("history")
    return frozenset(found)


def without_headings(note: str) -> str:
    """`note` with spaces where headings stand alone on their line; offsets stay."""
    return _LINE.sub(_blanked, note)


def _blanked(line: re.Match[str]) -> str:
    heading = _is_alone(line) and (line["colon"] or line["head"].isupper())
    return " " * len(line.group()) if heading and kinds_of(line["head"]) else line.group()


def _is_alone(line: re.Match[str]) -> bool:
    return not line["colon"] or line["alone"] is not None


def sections_of(note: str) -> list[tuple[int, frozenset[str]]]:
    """(offset from which it holds, section kinds), in order, starting at offset 0.

    A heading is a line of its own in capitals or before a colon, or known words before a colon.
    """
    found = [(0, frozenset[str]())]
    for line in _LINE.finditer(note):
        if not line["colon"] and not line["head"].isupper():
            continue
        kinds = kinds_of(line["head"], alone=_is_alone(line))
        if kinds:
            found.append((line.start(), kinds))
    return found


def home_of(category: str, phase: str) -> str:
    """The section kind in which a fact belongs."""
    return _PHASE_HOMES.get(phase) or _HOMES.get(category, "history")
