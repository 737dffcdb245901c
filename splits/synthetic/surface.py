"""From facts to words: fills a template with forms drawn for one fact in one place."""

from __future__ import annotations

import re
from functools import lru_cache

from heldout.splits.randomness import Part, choice
from heldout.splits.synthetic.catalogue import VAGUE, FactWording, catalogue
from heldout.splits.synthetic.sheets import Path, SheetFact

_FIELD = re.compile(r"\{(\w+)\}")


def wording_of(fact: SheetFact) -> FactWording:
    """The templates that fit the fact's polarity."""
    kind = fact.slot.kind
    if fact.affirmed:
        return kind.yes
    if kind.no is None:
        raise ValueError(f"a fact of kind {kind.name} cannot be denied")
    return kind.no


def fill(template: str, fact: SheetFact, register: str, known: frozenset[str], path: Path) -> str:
    """`template` with forms of the register (`lay` or `clinical`), tidied.

    An unknown detail is worded vaguely or left blank, drawn like any other form. Forms hang on
    `path` and the attribute alone, so a note and its edited twin word everything else alike.
    """

    def word(match: re.Match[str]) -> str:
        name = match[1]
        attr = "value" if name == "ask" else name
        concept = fact.attrs.get(attr)
        if concept is None:
            return ""
        group = fact.slot.kind.group if attr == "value" else attr
        if attr in fact.slot.details and attr not in known:
            return _form(group, VAGUE, register, (*path, name))
        return _form(group, concept, register, (*path, name))

    return tidy(_FIELD.sub(word, template))


def tidy(text: str) -> str:
    """`text` without the spaces and commas that blanks leave behind, first letter upper-case."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"(?:[\s,:]*,)+", ",", text)
    text = re.sub(r"[\s,:]*([.?!])(?=\s|$)", r"\1", text)
    text = re.sub(r"(^|[.?!:]) ?[,.] ?", r"\1 ", text).strip()
    text = re.sub(r"(?<= )a (?=[aeio])", "an ", text)
    text = re.sub(r"\b([Nn]o|[Aa]ny) an? ", r"\1 ", text)
    return re.sub(r"(^|[.?!] )([a-z])", lambda m: m[1] + m[2].upper(), text)


def _form(group: str, concept: str, register: str, path: tuple[Part, ...]) -> str:
    entry = catalogue().words[group].get(concept)
    if entry is None:
        return ""
    return choice(entry.lay if register == "lay" else entry.clinical, *path)


@lru_cache(maxsize=4096)
def mention(forms: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds any of `forms` as whole words, whatever the case.

    A leading article may be missing: «a murmur» is found in «no murmur».
    """
    longest_first = sorted(forms, key=len, reverse=True)
    inner = "|".join(re.sub(r"^(an?)\\ ", r"(?:\1\\ )?", re.escape(form)) for form in longest_first)
    return re.compile(rf"(?<!\w)(?:{inner})(?!\w)", re.IGNORECASE)


def forms_of(fact: SheetFact, attr: str) -> tuple[str, ...]:
    """Every form of one attribute's concept."""
    group = fact.slot.kind.group if attr == "value" else attr
    return catalogue().words[group][fact.attrs[attr]].forms
