"""The consultation as it was spoken: every fact of the sheet once, between small talk."""

from __future__ import annotations

import re

from heldout.splits.randomness import choice, shuffled, uniform
from heldout.splits.synthetic.catalogue import catalogue
from heldout.splits.synthetic.sheets import Path, Sheet
from heldout.splits.synthetic.surface import fill, wording_of

CHATTER_RATE = 0.3
"""How often small talk follows a fact."""

HESITATION_RATE = 0.25
"""How often a patient's turn starts with a filler word."""

_SPEAKERS = {"D>": "[doctor]", "P>": "[patient]"}
_TURN = re.compile(r"(D>|P>)\s*")


def transcript(sheet: Sheet) -> str:
    """One turn a line, each starting with `[doctor]` or `[patient]`."""
    manner = catalogue().manner
    path = (*sheet.path, "talk")
    exchanges = [choice(manner.greetings, *path, "greeting")]
    chatter = shuffled(manner.chatter, *path, "chatter")
    for section in manner.talk:
        facts = [fact for fact in sheet.facts if fact.slot.kind.section == section]
        for fact in shuffled(facts, *path, section):
            here = (*path, fact.slot.id)
            template = choice(wording_of(fact).say, *here, "template")
            exchanges.append(fill(template, fact, "lay", fact.known, here))
            if chatter and uniform(*here, "chatter") < CHATTER_RATE:
                exchanges.append(chatter.pop())
    exchanges.append(choice(manner.closings, *path, "closing"))
    return "\n".join(
        line for index, text in enumerate(exchanges) for line in _turns(text, (*path, index))
    )


def _turns(exchange: str, path: Path) -> list[str]:
    """The lines of one exchange «D> … P> …»."""
    pieces = [piece for piece in _TURN.split(exchange) if piece]
    hesitations = catalogue().manner.hesitations
    lines = []
    for index in range(0, len(pieces), 2):
        text = pieces[index + 1].strip()
        if pieces[index] == "P>" and uniform(*path, index) < HESITATION_RATE:
            text = f"{choice(hesitations, *path, index, 'word')} {text[0].lower()}{text[1:]}"
            text = re.sub(r"\bi(?=\b)", "I", text)
        lines.append(f"{_SPEAKERS[pieces[index]]} {text[0].upper()}{text[1:]}")
    return lines
