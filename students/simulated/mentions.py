"""Mentions: a place of a text where a clinical concept stands, with what is said of it.

Denial, doubt, effect and phase of a mention come from the cue words of its sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from heldout.students.simulated.lexicon import WORDS, Form, LexiconTerm
from heldout.students.simulated.words import Words

WINDOW = 70
"""Characters over which a denial, a number or a side still belongs to a concept."""

Detail = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention of a concept; `start` and `end` are offsets into the text.

    `doubt`: 0 firm, 1 likely, 2 possible. `effect`: 1 it helped, -1 it did not, 0 not said.
    `phase` is what the talk was about (`family`, `safety`, `remedy`, `plan`, `diagnosis`,
    `allergy` or empty). `details` are (kind, value).
    """

    form: Form
    start: int
    end: int
    sentence: int
    negated: bool = False
    doubt: int = 0
    effect: int = 0
    phase: str = ""
    details: frozenset[Detail] = frozenset()

    @property
    def concept(self) -> LexiconTerm:
        """What is mentioned."""
        return self.form.concept

    @property
    def key(self) -> tuple[str, str]:
        """What makes two mentions one fact: the concept and whose or what for it is."""
        group = self.phase if self.phase in ("family", "safety", "remedy") else ""
        return (self.form.concept.name, group)


@dataclass(slots=True)
class Sentence:
    """The words `first` to `last` (excluded) of one sentence and what was found in them."""

    number: int
    first: int
    last: int
    mentions: list[Mention] = field(default_factory=list)
    loose: list[Detail] = field(default_factory=list)
    """Details that belong to no mention of this sentence."""
    family: bool = False
    tried: bool = False


_DOUBT_WINDOW = 30
_NEGATORS = WORDS.words("negators")
_BREAKERS = WORDS.words("breakers")
_NO_DENIAL = WORDS.words("no_denial")
_PLANNING = WORDS.words("planning")
_SAFETY = WORDS.words("safety")
_DIAGNOSING = WORDS.words("diagnosing")
_DOUBTS = WORDS.read("doubts", dict[str, int])
_DENIED_AFTER = WORDS.pattern("denied_after")
_FAILED = WORDS.pattern("failed")
_WORKED = WORDS.pattern("worked")


def effect_of(sentence: str) -> int:
    """What a sentence says of a remedy: 1 it helped, -1 it did not, 0 nothing."""
    if _FAILED.search(sentence):
        return -1
    return 1 if _WORKED.search(sentence) else 0


class SentenceCues:
    """The cue words of one sentence, asked about one mention at a time."""

    def __init__(self, words: Words, first: int, last: int, stems: list[str]) -> None:
        self.words, self.first = words, first
        starts = words.starts
        text = words.text[starts[first] : words.ends[last - 1]].lower() if last > first else ""
        self.effect = effect_of(text.replace("’", "'"))
        places = list(zip(starts[first:last], stems, strict=True))
        self.negators = [at for nth, (at, _) in enumerate(places) if self._denies(stems, nth)]
        self.breakers = [at for at, word in places if word in _BREAKERS]
        self.doubts = [(at, _DOUBTS[word]) for at, word in places if word in _DOUBTS]
        self.planning = [at for at, word in places if word in _PLANNING]
        self.safety = [at for at, word in places if word in _SAFETY]
        self.naming = [
            at
            for (at, word), after in zip(places, [*stems[1:], ""], strict=True)
            if word in _DIAGNOSING or (word == "this" and after == "is")
        ]
        self.allergic = any(word.startswith("allerg") or word == "nkda" for word in stems)

    def _denies(self, stems: list[str], offset: int) -> bool:
        """True for a negator that neither answers («no, …») nor idles («no doubt»)."""
        if stems[offset] not in _NEGATORS and not stems[offset].endswith("n't"):
            return False
        after = stems[offset + 1] if offset + 1 < len(stems) else ""
        end = self.words.ends[self.first + offset]
        answers = offset <= 3 and stems[offset] == "no" and self.words.text[end : end + 1] == ","
        idle = stems[offset] in ("no", "not") and after in _NO_DENIAL
        return not answers and not idle

    def judge(
        self, base: Mention, word: int, details: frozenset[Detail], found: Sentence
    ) -> Mention:
        """`base` with polarity, doubt, effect, phase and details."""
        phase = self._phase(base, found)
        negated = base.form.denies or self._negated(base)
        effect = self.effect if phase == "remedy" else 0
        return replace(
            base,
            negated=negated and not effect,
            doubt=self._doubt(base, word),
            effect=effect,
            phase=phase,
            details=details,
        )

    def _negated(self, base: Mention) -> bool:
        closest = max((n for n in self.negators if n < base.start), default=-2 * WINDOW)
        if base.start - closest <= WINDOW:
            return not any(closest < b < base.start for b in self.breakers)
        after = self.words.text[base.end : base.end + 40].lower().replace("’", "'")
        return _DENIED_AFTER.match(after) is not None

    def _doubt(self, base: Mention, word: int) -> int:
        if word in self.words.queried:
            return 2
        near = [d for d in self.doubts if base.start - _DOUBT_WINDOW <= d[0] < base.start]
        return near[-1][1] if near else 0

    def _phase(self, base: Mention, found: Sentence) -> str:
        category = base.concept.category
        if category == "trigger":
            return "safety"
        if category in ("symptom", "condition") and self._warns(base):
            return "safety"
        if category in ("condition", "symptom") and found.family:
            return "family"
        if category == "drug":
            return self._drug_phase(base, found)
        if category == "condition" and any(at < base.start for at in self.naming):
            return "diagnosis"
        return ""

    def _warns(self, base: Mention) -> bool:
        """True behind «if», or before «as a red flag»."""
        after = self.words.text[base.end : base.end + 40].lower()
        return bool(self.safety) and (self.safety[0] < base.start or "flag" in after)

    def _drug_phase(self, base: Mention, found: Sentence) -> str:
        if self.allergic:
            return "allergy"
        if self.effect or found.tried:
            return "remedy"
        return "plan" if any(at < base.start for at in self.planning) else ""
