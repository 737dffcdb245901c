"""The head of a clause: who is asked, whether it is negated, and the verb it hangs on.

Peeling takes what stands before the verb off the front of a clause («please», «make sure that you
do not», «there is no need to») until the verb is reached, and remembers what it meant.
`heads.yaml` holds the patterns and the verbs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from heldout.splits.word_tables import WordTable


@dataclass(frozen=True, slots=True)
class Head:
    """A clause after peeling.

    `text` starts with the verb (or, for a rule, with its subject). `asks`: it is an order or an
    obligation. `negated`: an odd number of negations governs it. `void`: it is reported,
    hypothetical, permitted or asked, so nothing in it is wanted.
    """

    text: str
    asks: bool = False
    negated: bool = False
    void: bool = False


TABLE = WordTable("heldout.students.simulated", "heads.yaml")
_SKIP = TABLE.pattern("skip", re.I)
_CONTROL = TABLE.pattern("control", re.I)
_NEGATE = TABLE.pattern("negate", re.I)
_VOID = TABLE.pattern("void", re.I)
_LEAD = TABLE.pattern("lead", re.I)
_PASSIVE = TABLE.pattern("passive", re.I)
_AGENT = TABLE.pattern("agent", re.I)

VERBS = TABLE.words("verbs")
"""Base forms that can open an order."""

_IRREGULAR = TABLE.read("irregular", dict[str, str])
_DOUBLED = TABLE.words("doubled")


def _participle(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in _DOUBLED else "") + "ed"


def _gerund(verb: str) -> str:
    if verb.endswith("e") and verb not in ("be", "see"):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if verb in _DOUBLED else "") + "ing"


PARTICIPLES = {_participle(verb): verb for verb in sorted(VERBS)}
"""Past participle to base form."""

_FORMS = {_gerund(verb): verb for verb in sorted(VERBS)} | PARTICIPLES


def base_form(word: str) -> str | None:
    """The base form of a gerund or participle of a known verb, else None."""
    return _FORMS.get(word)


def _passive(head: Head, *, late: bool) -> Head | None:
    """«Every fact must be listed» as «list every fact»; `late` allows «has been listed»."""
    match = _PASSIVE.fullmatch(head.text)
    if match is None or (match["late"] and not late) or _AGENT.search(match["rest"]):
        return None
    verb = PARTICIPLES.get(match["verb"].lower())
    if verb is None:
        return None
    negated = head.negated != bool(match["no1"] or match["no2"])
    return Head(f"{verb} {match['subject']}{match['rest']}", asks=True, negated=negated)


def peel(text: str, *, dependent: bool = False) -> Head:
    """The head of the clause `text`; `dependent`: it hangs on a conjunction such as «before»."""
    head, governed, condition = Head(text.strip()), dependent, ""
    while not head.void:
        if found := _NEGATE.match(head.text):
            head, governed = replace(head, negated=not head.negated, asks=True), True
        elif found := _CONTROL.match(head.text):
            head, governed = replace(head, asks=True), True
        elif found := _SKIP.match(head.text):
            pass
        elif _VOID.match(head.text):
            return replace(head, void=True)
        elif found := _LEAD.match(head.text):
            condition = found.group().strip(" ,")
        else:
            break
        head = replace(head, text=head.text[found.end() :].lstrip(" ,"))
    head = _settle(head, governed=governed, dependent=dependent)
    return replace(head, text=f"{head.text} ({condition})") if condition else head


def _settle(head: Head, *, governed: bool, dependent: bool) -> Head:
    """Decide whether what is left is an order, and put its verb into its base form."""
    passive = _passive(head, late=dependent or governed)
    if passive is not None:
        return passive
    word, _, rest = head.text.partition(" ")
    bare = word.strip(",.").lower()
    if bare in VERBS:
        return replace(head, asks=True)
    if governed and (base := base_form(bare)):
        return replace(head, text=f"{base} {rest}", asks=True)
    return head
