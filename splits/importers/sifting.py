"""What a release holds twice is left out by name: pasted notes, and notes alike but for marks."""

from __future__ import annotations

import re
from dataclasses import replace

from rapidfuzz.distance import Indel

from heldout.splits.importers.imported import Imported, TableNote

SAME_HALVES = 0.9
"""Share of words that two halves of a note have in common, in order, from which on it is pasted."""

LEAST_WORDS = 21
"""Shorter notes may repeat themselves."""

_WORD = re.compile(r"[<>=+±-]*\d+(?:[.,/:]\d+)*|[^\W\d_]+|[<>=+%±]")


def told_words(text: str) -> tuple[str, ...]:
    """The words of `text` and what changes a number (its sign, its point); no other marks."""
    return tuple(_WORD.findall(text.casefold()))


def alike(first: str, second: str) -> bool:
    """True for texts that differ in punctuation, case and white space only."""
    return told_words(first) == told_words(second)


def pasted(note: str) -> str | None:
    """Why `note` is one text pasted twice, None where it is not."""
    words = told_words(note)
    if len(words) < LEAST_WORDS:
        return None
    half, slack = len(words) // 2, max(1, len(words) // 20)
    for cut in sorted(range(half - slack, half + slack + 1), key=lambda place: abs(place - half)):
        first, second = words[:cut], words[cut:]
        if first == second:
            return "its note holds the same text twice"
        if Indel.normalized_similarity(first, second, score_cutoff=SAME_HALVES):
            return "its note holds nearly the same text twice"
    return None


def sifted(imported: Imported) -> Imported:
    """`imported` without notes that are pasted twice, or alike but for marks; each is named.

    An errored note goes with its twin. Of clean notes that are alike twins are kept, or the first.
    """
    notices, first = list(imported.notices), dict[tuple[str, ...], str]()
    twins = {(note.group, note.twin) for note in imported.notes if note.kind != "clean"}
    clean = [note for note in imported.notes if note.kind == "clean"]
    gone: set[tuple[str, str | None]] = set()
    for note in sorted(clean, key=lambda note: (note.group, note.note_id) not in twins):
        key, words = (note.group, note.note_id), told_words(note.text)
        why = pasted(note.text)
        if why is None and words in first and key not in twins:
            why = f"its note is that of {first[words]} but for punctuation"
        if why is None:
            first.setdefault(words, note.note_id)
        else:
            gone.add(key)
            notices.append(f"{note.note_id} left out: {why}")
    kept = [note for note in imported.notes if (note.group, _clean_name(note)) not in gone]
    return replace(imported, notes=tuple(kept), notices=tuple(notices))


def _clean_name(note: TableNote) -> str | None:
    return note.note_id if note.kind == "clean" else note.twin
