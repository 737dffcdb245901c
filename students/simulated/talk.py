"""Question and answer: who says yes or no to what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from heldout.students.simulated.lexicon import WORDS
from heldout.students.simulated.mentions import Detail, Mention, Sentence
from heldout.students.simulated.words import Words

_ASKING = WORDS.words("asking")
_NO_REPLY = WORDS.words("no_reply")
_YES_REPLY = WORDS.words("yes_reply")
_FILLERS = WORDS.words("fillers")
_FILLER_PHRASES = tuple(tuple(phrase.split()) for phrase in WORDS.read("filler_phrases", list[str]))


class Talk:
    """Follows question and answer through a consultation."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pending: list[Mention] = []
        self.family = self.tried = self.allergic = False
        self.last: Mention | None = None
        self.line_end = 0

    def hear(self, words: Words, sentence: Sentence) -> Iterator[tuple[Mention, bool]]:
        """The mentions of one sentence, and of the question it answers."""
        start = words.starts[sentence.first]
        new_turn = "\n" in self.text[self.line_end : start]
        self.line_end = words.ends[sentence.last - 1]
        asks = self._asks(words, sentence)
        if new_turn:
            stems = words.stems[sentence.first : sentence.last]
            yield from self._answer(reply_of(stems), sentence)
            self._inherit(sentence)
            if not asks:
                self.family = self.tried = self.allergic = False
        elif sentence.loose and self.last is not None and not sentence.mentions:
            yield replace(self.last, details=frozenset(sentence.loose)), True
        if asks:
            self.pending += sentence.mentions
            self._remember(sentence)
        else:
            for mention in sentence.mentions:
                yield mention, True
        self.last = sentence.mentions[-1] if sentence.mentions else self.last

    def _asks(self, words: Words, sentence: Sentence) -> bool:
        end = words.ends[sentence.last - 1]
        if "?" in self.text[end : end + 3].split("\n")[0]:
            return True
        if not sentence.mentions or sentence.last - sentence.first > 30:
            return False
        opening = words.stems[sentence.first : sentence.first + 3]
        return any(word in _ASKING for word in opening[:1]) and "." not in self.text[end : end + 1]

    def _remember(self, sentence: Sentence) -> None:
        self.family = self.family or sentence.family
        self.tried = self.tried or sentence.tried
        self.allergic = self.allergic or any(
            m.concept.name == "drug allergy" for m in sentence.mentions
        )

    def _inherit(self, sentence: Sentence) -> None:
        """Give an answer the subject of the question."""
        for index, mention in enumerate(sentence.mentions):
            category, phase = mention.concept.category, mention.phase
            if self.family and category in ("condition", "symptom"):
                phase = "family"
            elif self.tried and category == "drug":
                phase = "remedy"
            elif self.allergic and category == "drug":
                phase = "allergy"
            sentence.mentions[index] = replace(mention, phase=phase)

    def _answer(self, reply: bool | None, sentence: Sentence) -> Iterator[tuple[Mention, bool]]:
        """Settle the pending questions by the first words of the answer."""
        details = frozenset(() if sentence.mentions else sentence.loose)
        if reply is None and details:
            reply = True
        for mention in self.pending:
            own = details if mention is self.pending[-1] else frozenset[Detail]()
            if reply is None:
                yield mention, False
            elif reply:
                yield replace(mention, details=mention.details | own), True
            else:
                yield replace(mention, negated=True), True
        self.pending = []

    def leave(self) -> Iterator[tuple[Mention, bool]]:
        """Questions that nobody answered."""
        for mention in self.pending:
            yield mention, False


def reply_of(stems: list[str]) -> bool | None:
    """What the first words of an answer say: True yes, False no, None neither."""
    place = 0
    while place < len(stems):
        if stems[place] in _FILLERS:
            place += 1
            continue
        step = next(
            (len(f) for f in _FILLER_PHRASES if tuple(stems[place : place + len(f)]) == f), 0
        )
        if not step:
            break
        place += step
    if place >= len(stems):
        return None
    word = stems[place]
    if word in _NO_REPLY or word.endswith("n't"):
        return False
    if word == "i":
        return _verb_reply(stems[place + 1] if place + 1 < len(stems) else "")
    return True if word in _YES_REPLY else None


def _verb_reply(verb: str) -> bool | None:
    """«I do», «I haven't»."""
    if verb.endswith("n't"):
        return False
    return True if verb in ("do", "have", "am", "did", "was") else None
