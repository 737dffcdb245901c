"""Clinical concepts and the forms they take in speech and in notes.

The forms stand in `lexicon.txt`. They are found by the first word: whole words in one table,
beginnings of words in buckets of three letters, so that a word is compared with a handful of forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from heldout.splits.word_tables import WordTable
from heldout.students.simulated.words import Words, words_of

_BUCKET = 3

WORDS = WordTable("heldout.students.simulated", "words.yaml")
"""The small words: denial, doubt, numbers, sections and what else turns a concept."""


@dataclass(frozen=True, slots=True)
class LexiconTerm:
    """A clinical idea; `category` is a heading of the lexicon such as `symptom`."""

    name: str
    category: str

    @property
    def is_detail(self) -> bool:
        """True if it only ever qualifies another concept."""
        return self.category.startswith("detail:")


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One way to put a concept.

    `denies`: the form itself is a denial («nkda»). `exact`: the letters it must have, for forms
    that in other letters are another word («ED», «runs»).
    """

    concept: LexiconTerm
    words: tuple[str, ...]
    denies: bool = False
    exact: str = ""

    @property
    def simple(self) -> bool:
        """True if its first word settles it."""
        return len(self.words) == 1 and not self.exact

    def matches(self, words: Words, place: int) -> bool:
        """True if the form stands at word `place`."""
        stems = words.stems
        if self.exact and words.text[words.starts[place] : words.ends[place]] != self.exact:
            return False
        if place + len(self.words) > len(stems):
            return False
        for offset, pattern in enumerate(self.words):
            word = stems[place + offset]
            if pattern != word and not (pattern.endswith("*") and word.startswith(pattern[:-1])):
                return False
        return True


class Lexicon:
    """All forms, findable by their first word."""

    def __init__(self, forms: list[Form]) -> None:
        self._whole: dict[str, list[Form]] = {}
        self._beginning: dict[str, list[Form]] = {}
        self._known: dict[str, tuple[Form, ...]] = {}
        for form in sorted(forms, key=lambda form: -len(form.words)):
            first = form.words[0]
            table = self._beginning if first.endswith("*") else self._whole
            table.setdefault(first[:_BUCKET] if first.endswith("*") else first, []).append(form)

    def at(self, words: Words, place: int) -> Form | None:
        """The longest form that starts at word `place`."""
        first = words.stems[place]
        candidates = self._known.get(first)
        if candidates is None:
            candidates = self._known[first] = self._candidates(first)
        for form in candidates:
            if form.simple or form.matches(words, place):
                return form
        return None

    def _candidates(self, first: str) -> tuple[Form, ...]:
        """Forms whose first word fits `first`, longest first, whole words before beginnings."""
        fitting = [
            form
            for form in self._beginning.get(first[:_BUCKET], ())
            if first.startswith(form.words[0][:-1])
        ]
        both = [*self._whole.get(first, ()), *fitting]
        return tuple(sorted(both, key=lambda form: -len(form.words)))


def read_forms(text: str) -> list[Form]:
    """The forms of a lexicon text; a form given twice belongs to the first concept."""
    forms: dict[tuple[str, ...], Form] = {}
    category = ""
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            category = line[1:-1]
            continue
        name, *entries = (entry.strip() for entry in line.split(","))
        concept = LexiconTerm(name, category)
        for entry in [*entries, name] if concept.is_detail else entries:
            words = _pattern(entry.lstrip("~="))
            exact = entry[1:] if entry.startswith("=") else ""
            forms.setdefault((*words, exact), Form(concept, words, entry.startswith("~"), exact))
    return list(forms.values())


def _pattern(entry: str) -> tuple[str, ...]:
    """Stems of a form's words; a word with `*` is kept as the beginning of a word."""
    parts: list[str] = []
    for word in entry.split():
        if word.endswith("*"):
            *whole, last = words_of(word[:-1]).stems or [""]
            parts += [*whole, f"{last}*"]
        else:
            parts += words_of(word).stems
    return tuple(parts)


@cache
def lexicon() -> Lexicon:
    """The lexicon that ships with the package."""
    path = resources.files("heldout.students.simulated").joinpath("lexicon.txt")
    return Lexicon(read_forms(path.read_text(encoding="utf-8")))
