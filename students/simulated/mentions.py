"""Mentions: every place of a text where a clinical concept stands, with what is said of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from heldout.students.simulated import cues
from heldout.students.simulated.lexicon import Concept, Form, lexicon
from heldout.students.simulated.values import Value, values_in
from heldout.students.simulated.words import Words

WINDOW = 70
"""Characters over which a denial, a number or a side still belongs to a concept."""

_DOUBT_WINDOW = 30

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
    def concept(self) -> Concept:
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


_BODY = frozenset(("symptom", "sign", "condition", "quality", "test", "worry"))
_FITS = {
    **dict.fromkeys(("mg", "ml", "puff", "drop", "tablet"), frozenset(("drug",))),
    **dict.fromkeys(("rate", "percent", "degree", "kg", "lb"), frozenset(("sign", "symptom"))),
    "pressure": frozenset(("sign", "condition")),
    "frequency": frozenset(("drug", "social", "symptom")),
    "reaction": frozenset(("allergy", "drug")),
    "relation": frozenset(("condition", "symptom")),
    "side": _BODY,
    "action": frozenset(("trigger", "symptom", "condition")),
    "urgency": frozenset(("referral", "test", "plan")),
    "channel": frozenset(("plan", "referral")),
}
_SIDES = {
    "left": "left", "l": "left", "right": "right", "r": "right", "bilateral": "both",
    "bilaterally": "both", "both": "both",
}  # fmt: skip
_BEFORE_RIGHT = frozenset(
    ("the", "my", "your", "his", "her", "on", "of", "over", "in", "and", "or", "a", "mainly")
)
_AFTER_SIDE = frozenset(("side", "sided", "hand", "leg", "arm", "eye", "ear", "foot", "lower"))


def read_sentence(words: Words, number: int, first: int, last: int) -> Sentence:
    """Find the mentions of one sentence and give each what belongs to it."""
    found = Sentence(number, first, last)
    stems = words.stems[first:last]
    forms = _forms(words, first, last)
    cores = [(form, a, b) for form, a, b in forms if not form.concept.is_detail]
    details = _details(words, forms, first, last)
    found.family = any(kind == "relation" for kind, _, _, _ in details)
    found.tried = any(stem in cues.TRYING for stem in stems)
    cores += _bare_readings(details, cores)
    owned = _assign(words, cores, details, found)
    turn = _Turn(words, first, last, stems)
    for index, (form, a, b) in enumerate(cores):
        base = Mention(form, words.starts[a], words.ends[b], number)
        found.mentions.append(turn.judge(base, a, frozenset(owned[index]), found))
    denied = {mention.key for mention in found.mentions if mention.form.denies}
    if denied:  # «allergy status checked: NKDA» is one denial
        found.mentions = [replace(m, negated=m.negated or m.key in denied) for m in found.mentions]
    return found


def _forms(words: Words, first: int, last: int) -> list[tuple[Form, int, int]]:
    """(form, first word, last word) from left to right, not overlapping."""
    table = lexicon()
    found = []
    place = first
    while place < last:
        form = table.at(words, place)
        if form is None or place + len(form.words) > last:
            place += 1
            continue
        found.append((form, place, place + len(form.words) - 1))
        place += len(form.words)
    return found


def _details(
    words: Words, forms: list[tuple[Form, int, int]], first: int, last: int
) -> list[tuple[str, str, int, int]]:
    """(kind, value, first word, last word) of everything that qualifies a concept."""
    found = [
        (form.concept.category.removeprefix("detail:"), form.concept.name, a, b)
        for form, a, b in forms
        if form.concept.is_detail
    ]
    stems = words.stems[first:last]
    covered = {place for _, a, b in forms for place in range(a, b + 1)}
    found += [
        (value.kind, value.text, first + value.first, first + value.last)
        for value in values_in(stems)
        if value.kind != "number" and first + value.first not in covered
    ]
    found += [
        ("side", _SIDES[stem], first + place, first + place)
        for place, stem in enumerate(stems)
        if stem in _SIDES and _is_side(stems, place)
    ]
    return found


def _is_side(stems: list[str], place: int) -> bool:
    """True if a word such as «right» means a side and not agreement."""
    before = stems[place - 1] if place else ""
    after = stems[place + 1] if place + 1 < len(stems) else ""
    if stems[place].startswith("bilateral") or after in _AFTER_SIDE:
        return True
    if stems[place] == "right":
        return before in _BEFORE_RIGHT
    if stems[place] == "both":
        return after in ("side", "leg", "eye", "ear", "knee", "hand", "arm", "feet", "foot")
    return before not in ("i", "he", "she", "they", "we", "have", "when", "has")


_SCORE_FORM = Form(Concept("severity", "quality"), ("severity",))
_PRESSURE_FORM = Form(Concept("blood pressure", "sign"), ("bp",))


def _bare_readings(
    details: list[tuple[str, str, int, int]], cores: list[tuple[Form, int, int]]
) -> list[tuple[Form, int, int]]:
    """Readings that name themselves: «seven out of ten», «118/76»."""
    names = {form.concept.name for form, _, _ in cores}
    found = []
    for kind, text, a, b in details:
        if kind == "score" and text.endswith("/10") and "severity" not in names:
            found.append((_SCORE_FORM, a, b))
        elif kind == "pressure" and "blood pressure" not in names:
            found.append((_PRESSURE_FORM, a, b))
    return found


def _assign(
    words: Words,
    cores: list[tuple[Form, int, int]],
    details: list[tuple[str, str, int, int]],
    found: Sentence,
) -> list[list[Detail]]:
    """Give every detail to the nearest mention it fits; what fits none is loose."""
    owned: list[list[Detail]] = [[] for _ in cores]
    for kind, text, a, b in details:
        fits = _FITS.get(kind)
        best, nearest = -1, WINDOW + 1
        for index, (form, c, d) in enumerate(cores):
            if fits is not None and form.concept.category not in fits:
                continue
            gap = words.starts[a] - words.ends[d] if c <= a else words.starts[c] - words.ends[b]
            if gap < nearest:
                best, nearest = index, gap
        if best < 0:
            found.loose.append((kind, text))
        else:
            owned[best].append((kind, text))
    return owned


class _Turn:
    """The cue words of one sentence, asked about one mention at a time."""

    def __init__(self, words: Words, first: int, last: int, stems: list[str]) -> None:
        self.words, self.first = words, first
        starts = words.starts
        text = words.text[starts[first] : words.ends[last - 1]].lower() if last > first else ""
        self.effect = cues.effect_of(text.replace("’", "'"))
        self.negators, self.breakers, self.planning, self.safety, self.naming = [], [], [], [], []
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
        if category in ("symptom", "condition") and self.safety:
            if self.safety[0] < base.start or "flag" in self.words.text[base.end :][:40].lower():
                return "safety"
        if category in ("condition", "symptom") and found.family:
            return "family"
        if category == "drug":
            return self._drug_phase(base, found)
        if category == "condition" and any(at < base.start for at in self.naming):
            return "diagnosis"
        return ""

    def _drug_phase(self, base: Mention, found: Sentence) -> str:
        if self.allergic:
            return "allergy"
        if self.effect or found.tried:
            return "remedy"
        return "plan" if any(at < base.start for at in self.planning) else ""


__all__ = ["WINDOW", "Detail", "Mention", "Sentence", "Value", "read_sentence"]
