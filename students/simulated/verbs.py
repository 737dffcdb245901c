"""Verbs that instructions are written with, and their forms."""

from __future__ import annotations

_BASE_FORMS = """
    accept add admit aim allow answer apply approximate ask assemble assess assign attend audit
    award base be begin bring build call carry catalog catalogue check choose classify collect
    combine compare compile complete conclude confirm confuse conflate consult contrast copy count
    create credit cross-check decide deduct demand determine differentiate dismiss distinguish do
    dock draft draw earn end ensure enumerate equate evaluate examine excuse expect express extract
    favour favor find finish fix flag focus follow forgive form gather get give go grade hold
    honour hunt identify ignore insist inspect inventory itemise itemize jot judge keep let limit
    list locate look lower make mark match measure mention mind move name neglect note notice
    number object open overlook pass pay penalise penalize permit pick point prefer prepare present
    proceed produce provide pull punish put question rate read recognise recognize reconcile record
    reduce refuse regard reject rely remove repeat replace report require restrict return review
    reward round run save say scan score scrutinise scrutinize search see select separate set settle
    show sort spell spot start state step subtract swap tabulate take tally test think tick tolerate
    trace track treat trust try turn use validate verify view walk want watch wave weigh work
    write
"""

VERBS = frozenset(_BASE_FORMS.split())
"""Base forms that can open an order."""

_IRREGULAR = {
    "build": "built", "choose": "chosen", "draw": "drawn", "find": "found", "get": "got",
    "give": "given", "go": "gone", "hold": "held", "keep": "kept", "let": "let", "make": "made",
    "pay": "paid", "put": "put", "read": "read", "run": "run", "say": "said", "see": "seen",
    "set": "set", "show": "shown", "spell": "spelt", "take": "taken", "think": "thought",
    "write": "written", "forgive": "forgiven", "begin": "begun", "do": "done", "be": "been",
    "bring": "brought",
}  # fmt: skip
_DOUBLED = frozenset(
    ("begin", "get", "put", "run", "set", "let", "jot", "swap", "spot", "scan", "step")
)


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
