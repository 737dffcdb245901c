"""Facts put into words, and facts read from words that somebody else put them into."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from heldout.students.simulated.lexicon import WORDS
from heldout.students.simulated.mentions import Mention
from heldout.students.simulated.reading import ReadFact
from heldout.students.simulated.sections import SECTION_NAMES, home_of, kinds_of
from heldout.students.simulated.sentences import read_sentence
from heldout.students.simulated.words import Words, words_of

_PREFIX = WORDS.read("prefix", dict[str, str])
_CATEGORY_PREFIX = WORDS.read("category_prefix", dict[str, str])
_UNITS = WORDS.read("units", dict[str, str])
_SIDES = WORDS.read("spoken_sides", dict[str, str])
_DAYS = ((365.0, "years"), (30.0, "months"), (7.0, "weeks"), (1.0, "days"))
_BRACKET = re.compile(r"^\[(?P<section>[^\]]{2,30})\]\s*")
_HEADING = re.compile(r"^(?P<head>[A-Za-z ]{3,24}):")


def detail_texts(fact: ReadFact) -> tuple[str, ...]:
    """`fact` without its details, then once with each of them alone."""
    bare = fact_text(replace(fact, details={}))
    single = [kind for kind, values in sorted(fact.details.items()) if len(values) == 1]
    return (bare, *(fact_text(replace(fact, details={k: fact.details[k]})) for k in single))


def fact_text(fact: ReadFact) -> str:
    """`fact` in one line, in the speakers' own words where there are any."""
    prefix = _PREFIX.get(fact.phase) or _CATEGORY_PREFIX.get(fact.category, "")
    denied = "no " if fact.denials == {True} else ""
    doubt = "" if 0 in fact.doubts else "possible " if 2 in fact.doubts else "probable "
    effect = {1: ", helped", -1: ", no help"}.get(max(fact.effects, key=abs), "")
    details = [
        _detail(kind, next(iter(values)))
        for kind, values in sorted(fact.details.items())
        if len(values) == 1
    ]
    said = fact.said.lower() if fact.said.istitle() else fact.said
    return f"{prefix}{denied}{doubt}{', '.join([said + effect, *details])}"


def _detail(kind: str, value: str) -> str:
    if kind == "duration":
        return _duration(float(value))
    if kind == "side":
        return _SIDES.get(value, value)
    return _UNITS.get(kind, "{}").format(value)


def _duration(days: float) -> str:
    for size, unit in _DAYS:
        if days >= size and days % size == 0:
            return f"for {days / size:g} {unit}"
    return f"for {days * 24:g} hours" if days * 24 >= 1 else f"for {days * 1440:g} minutes"


@lru_cache(maxsize=65536)
def fact_from(text: str) -> ReadFact | None:
    """The fact that a line of text states, None if no known concept stands in it.

    A section in brackets or a heading before the fact says where it belongs.
    """
    bracket = _BRACKET.match(text)
    bare = text[bracket.end() :] if bracket else text
    words = words_of(bare)
    mentions = read_sentence(words, 0, 0, len(words)).mentions if len(words) else []
    if not mentions:
        return None
    heading = _HEADING.match(bare)
    named = [m for m in mentions if heading is None or m.start >= heading.end()] or mentions
    main = next((m for m in named if not _frames_another(m)), named[0])
    return _fact(main, named, bare, _home(bracket, heading, main))


def _frames_another(mention: Mention) -> bool:
    """True for «worse», «allergic»: words that say of something else what it is."""
    return mention.concept.category == "quality" or mention.concept.name == "drug allergy"


def _home(bracket: re.Match[str] | None, heading: re.Match[str] | None, main: Mention) -> str:
    """The section kind that is named, unless the fact's own home goes by that name too."""
    own = home_of(main.concept.category, main.phase)
    named = bracket["section"].lower() if bracket else heading["head"] if heading else ""
    if not named or SECTION_NAMES.get(own) == named:
        return own
    return next(iter(sorted(kinds_of(named))), own)


def _fact(main: Mention, mentions: list[Mention], text: str, home: str) -> ReadFact:
    details: dict[str, set[str]] = {}
    for kind, value in (detail for mention in mentions for detail in mention.details):
        if (kind, value) != ("relation", "family"):  # «family history» names nobody
            details.setdefault(kind, set()).add(value)
    return ReadFact(
        key=main.key,
        forms=frozenset((main.form,)),
        category=main.concept.category,
        phase=main.phase,
        home=home,
        denials=frozenset((main.negated,)),
        doubts=frozenset((main.doubt,)),
        effects=frozenset((main.effect,)),
        details={kind: frozenset(values) for kind, values in details.items()},
        mentions=1,
        evidence=text,
        said=text[main.start : main.end],
    )


def content_share(text: str, note: Words) -> float:
    """Share of the longer words of `text` that occur in `note`: what is left without a concept."""
    wanted = {word for word in words_of(text).stems if len(word) > 3}
    return len(wanted & set(note.stems)) / len(wanted) if wanted else 0.0
