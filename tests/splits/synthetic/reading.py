"""Plain reading of rendered notes, written without the generator's own checks."""

from __future__ import annotations

import re
from collections import Counter

from heldout.splits.synthetic.catalogue import catalogue

HEADINGS = {
    heading
    for style in catalogue().manner.headings.values()
    for variants in style.values()
    for heading in variants
}


def sentences(note: str) -> Counter[str]:
    """The sentences of a note without its headings, each with how often it stands there."""
    lines = [line for line in note.splitlines() if line and line not in HEADINGS]
    return Counter(s for line in lines for s in re.split(r"(?<=\.)\s+", line) if s)


def sections(note: str) -> dict[str, str]:
    """Heading (without its colon) to the text under it."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in note.splitlines():
        if line in HEADINGS:
            heading = line.rstrip(":")
        found.setdefault(heading, []).append(line)
    return {heading: "\n".join(lines) for heading, lines in found.items()}


def says(text: str, form: str) -> bool:
    """True if `form` stands in `text` as whole words, whatever the case."""
    bare = re.sub(r"^an? ", "", form)
    return re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", text, re.IGNORECASE) is not None


def forms(group: str, concept: str) -> list[str]:
    """Every form of a concept."""
    entry = catalogue().words[group][concept]
    return [form for form in (*entry.lay, *entry.clinical) if form]
