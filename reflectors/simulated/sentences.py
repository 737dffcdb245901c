"""A block as lines of sentences, and the edits that keep it readable."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heldout.reflectors.simulated.topics import Topic, asked, topics

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z«“\"(])")
MAX_LINE_SENTENCES = 4
"""Sentences a line holds before an added one opens the next."""


@dataclass(frozen=True, slots=True)
class Text:
    """A block: its lines, each a tuple of sentences. Never empty once it has a sentence."""

    lines: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, block: str) -> Text:
        """`block` taken apart; empty lines are dropped."""
        split = (_SENTENCE_END.split(line.strip()) for line in block.splitlines() if line.strip())
        return cls(tuple(map(tuple, split)))

    def __str__(self) -> str:
        return "\n".join(" ".join(line) for line in self.lines if line)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences in order."""
        return tuple(sentence for line in self.lines for sentence in line)

    @property
    def asked(self) -> frozenset[Topic]:
        """The procedures the block asks for."""
        return frozenset(topic for sentence in self.sentences for topic in asked(sentence))

    @property
    def idle(self) -> tuple[str, ...]:
        """Sentences about no procedure, the opening one excepted."""
        return tuple(sentence for sentence in self.sentences[1:] if not topics(sentence))

    def replace(self, old: str, new: str | None) -> Text:
        """`new` in the place of the first `old`; None takes it out."""
        done, lines = False, []
        for line in self.lines:
            kept: list[str] = []
            for sentence in line:
                if sentence == old and not done:
                    done = True
                    kept += [] if new is None else [new]
                else:
                    kept.append(sentence)
            lines.append(tuple(kept))
        return Text(tuple(line for line in lines if line))

    def append(self, sentence: str) -> Text:
        """`sentence` at the end, on a line of its own where the last one is full."""
        if not self.lines or len(self.lines[-1]) >= MAX_LINE_SENTENCES:
            return Text((*self.lines, (sentence,)))
        return Text((*self.lines[:-1], (*self.lines[-1], sentence)))

    def insert(self, sentence: str, at: int) -> Text:
        """`sentence` in the first line before its sentence `at`."""
        if not self.lines:
            return self.append(sentence)
        first = self.lines[0]
        return Text(((*first[:at], sentence, *first[at:]), *self.lines[1:]))


def ask_for(text: Text, topic: Topic, sentence: str, *, at: int) -> Text:
    """`text` asking for `topic` in the words of `sentence`.

    A sentence on this topic alone gives way to it, as do further ones and those that forbid it;
    an inventory goes before sentence `at` of the first line, anything else to the end.
    """
    own = [s for s in text.sentences if topics(s) == {topic}]
    for extra in own[1:]:
        text = text.replace(extra, None)
    if own:
        return text.replace(own[0], sentence)
    return text.insert(sentence, at) if topic is Topic.INVENTORY else text.append(sentence)


def fit(text: Text, *, words: int, characters: int, idle_above: int) -> Text:
    """`text` within the caps: first sentences about nothing go, from the end, then any.

    Beyond `idle_above` words idle sentences go even where the caps allow them.
    """
    for idle in reversed(text.idle):
        if len(str(text).split()) > idle_above or _exceeds(text, words, characters):
            text = text.replace(idle, None)
    while len(text.sentences) > 1 and _exceeds(text, words, characters):
        text = text.replace(text.sentences[-1], None)
    return text


def _exceeds(text: Text, words: int, characters: int) -> bool:
    block = str(text)
    return len(block.split()) > words or len(block) > characters
