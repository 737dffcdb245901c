"""What colours a mention: denial, doubt, effect and phase, from the cue words of its sentence."""

from __future__ import annotations

from dataclasses import replace

from heldout.students.simulated import cues
from heldout.students.simulated.mentions import WINDOW, Detail, Mention, Sentence
from heldout.students.simulated.words import Words

_DOUBT_WINDOW = 30


class Colour:
    """The cue words of one sentence, asked about one mention at a time."""

    def __init__(self, words: Words, first: int, last: int, stems: list[str]) -> None:
        self.words, self.first = words, first
        starts = words.starts
        text = words.text[starts[first] : words.ends[last - 1]].lower() if last > first else ""
        self.effect = cues.effect_of(text.replace("’", "'"))
        self.negators: list[int] = []
        self.breakers: list[int] = []
        self.planning: list[int] = []
        self.safety: list[int] = []
        self.naming: list[int] = []
        self.doubts: list[tuple[int, int]] = []
        for offset, word in enumerate(stems):
            at = starts[first + offset]
            if word in cues.NEGATORS or word.endswith("n't"):
                self._negator(stems, offset, at)
            elif word in cues.BREAKERS:
                self.breakers.append(at)
            if word in cues.DOUBTS:
                self.doubts.append((at, cues.DOUBTS[word]))
            if word in cues.PLANNING:
                self.planning.append(at)
            elif word in cues.SAFETY:
                self.safety.append(at)
            elif word in cues.DIAGNOSING or (
                word == "this" and stems[offset + 1 : offset + 2] == ["is"]
            ):
                self.naming.append(at)
        self.allergic = any(word.startswith("allerg") or word == "nkda" for word in stems)

    def _negator(self, stems: list[str], offset: int, at: int) -> None:
        after = stems[offset + 1] if offset + 1 < len(stems) else ""
        end = self.words.ends[self.first + offset]
        answers = offset <= 3 and stems[offset] == "no" and self.words.text[end : end + 1] == ","
        idle = stems[offset] in ("no", "not") and after in cues.NO_DENIAL
        if not answers and not idle:
            self.negators.append(at)

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
        return cues.DENIED_AFTER.match(after) is not None

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
