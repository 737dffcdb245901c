"""One sentence read: its mentions, and which number, side or time belongs to which."""

from __future__ import annotations

from dataclasses import replace

from heldout.students.simulated.lexicon import WORDS, Form, LexiconTerm, lexicon
from heldout.students.simulated.mentions import WINDOW, Detail, Mention, Sentence, SentenceCues
from heldout.students.simulated.values import values_in
from heldout.students.simulated.words import Words

_FITS = {
    kind: frozenset(categories.split())
    for kind, categories in WORDS.read("fits", dict[str, str]).items()
}
_SIDES = WORDS.read("sides", dict[str, str])
_BEFORE_RIGHT = WORDS.words("before_right")
_AFTER_SIDE = WORDS.words("after_side")
_TRYING = WORDS.words("trying")


def read_sentence(words: Words, number: int, first: int, last: int) -> Sentence:
    """Find the mentions of one sentence and give each what belongs to it."""
    found = Sentence(number, first, last)
    stems = words.stems[first:last]
    forms = _forms(words, first, last)
    cores = [(form, a, b) for form, a, b in forms if not form.concept.is_detail]
    details = _details(words, forms, first, last)
    found.family = any(kind == "relation" for kind, _, _, _ in details)
    found.tried = any(stem in _TRYING for stem in stems)
    cores += _bare_readings(details, cores)
    owned = _assign(words, cores, details, found)
    turn = SentenceCues(words, first, last, stems)
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


_SCORE_FORM = Form(LexiconTerm("severity", "quality"), ("severity",))
_PRESSURE_FORM = Form(LexiconTerm("blood pressure", "sign"), ("bp",))


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
