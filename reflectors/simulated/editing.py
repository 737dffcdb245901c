"""How the simulated reflector edits a block: led by traces, with useless tries in between.

Every choice is drawn from `path`, which holds the call's seed and a hash of the messages.
"""

from __future__ import annotations

from dataclasses import dataclass

from heldout.reflectors.simulated.reading import Request
from heldout.reflectors.simulated.sentences import Text, ask_for, fit
from heldout.reflectors.simulated.topics import Topic, filler, lessons, sentence, topics
from heldout.splits.randomness import Part, choice, integer, uniform, weighted_choice

SECOND_EDIT = 0.6
"""Chance that a proposal goes on to another edit while it may."""

IDLE_ABOVE_WORDS = 150
"""Beyond this many words a block loses its idle sentences: attention is finite."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How a reflector works: edits a proposal (at least 1) and the share of edits, in [0, 1],
    that follow no evidence."""

    max_edits: int = 2
    exploration: float = 0.2


def rewrite(request: Request, habits: Habits, *path: Part) -> str:
    """A new block from the one block of `request`."""
    before = text = Text.of(request.blocks[0])
    count = _edits(habits, *path)
    for step in range(count):
        text = _edit(text, request, habits, *path, "edit", step)
    return _finish(text, (before,), request, *path)


def merge(request: Request, *path: Part) -> str:
    """The procedures of both blocks of `request` in one, each once.

    Where one block asks for all that the other asks for, uniting them gains nothing: the result
    then gets a procedure that neither has.
    """
    texts = [Text.of(block) for block in request.blocks]
    base = integer(0, 1, *path, "base")
    text, other = texts[base], texts[1 - base]
    for wanted in sorted(other.asked - text.asked):
        source = next(s for s in other.sentences if wanted in topics(s))
        if wanted not in text.asked:
            text = ask_for(text, wanted, source, at=_place(text, *path, wanted))
    for shared in sorted(other.asked & texts[base].asked):
        theirs = [s for s in other.sentences if topics(s) == {shared}]
        if theirs and uniform(*path, "whose", shared) < 0.5:
            text = ask_for(text, shared, theirs[0], at=0)
    for idle in text.idle:
        if uniform(*path, "idle", idle) < 0.5:
            text = text.replace(idle, None)
    absent = [topic for topic in Topic if topic not in text.asked]
    if absent and any(text.asked == parent.asked for parent in texts):
        text = _ask(text, choice(absent, *path, "beyond"), *path, "beyond")
    return _finish(text, tuple(texts), request, *path)


def _edits(habits: Habits, *path: Part) -> int:
    count = 1
    while count < habits.max_edits and uniform(*path, "more", count) < SECOND_EDIT:
        count += 1
    return count


def _edit(text: Text, request: Request, habits: Habits, *path: Part) -> Text:
    weights = lessons(request.cases, text.asked, per_fact=request.per_fact)
    if not weights or uniform(*path, "explore") < habits.exploration:
        return _explore(text, *path)
    topic = weighted_choice(list(weights), list(weights.values()), *path, "topic")
    return _ask(text, topic, *path)


def _ask(text: Text, topic: Topic, *path: Part) -> Text:
    return ask_for(text, topic, sentence(topic, *path), at=_place(text, *path))


def _place(text: Text, *path: Part) -> int:
    """Where an inventory goes: at the very start or behind the opening sentence."""
    return integer(0, min(1, len(text.lines[0]) if text.lines else 0), *path, "place")


def _explore(text: Text, *path: Part) -> Text:
    """An edit that no case speaks for."""
    kind = weighted_choice(("idle", "topic", "drop"), (0.5, 0.25, 0.25), *path, "kind")
    if kind == "topic":
        return _ask(text, choice(list(Topic), *path, "any"), *path)
    if kind == "drop" and len(text.sentences) > 1:
        return text.replace(choice(text.sentences, *path, "dropped"), None)
    return text.append(filler(*path))


def _finish(text: Text, parents: tuple[Text, ...], request: Request, *path: Part) -> str:
    """`text` within the caps, and changed if it happens to be a parent's."""
    for attempt in range(8):
        fitted = fit(
            text,
            words=request.max_words,
            characters=request.max_characters,
            idle_above=IDLE_ABOVE_WORDS,
        )
        if all(str(fitted) != str(parent) for parent in parents):
            return str(fitted)
        text = _ask(fitted, choice(list(Topic), *path, "forced", attempt), *path, attempt)
    return str(fitted)
