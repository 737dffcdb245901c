"""Small words that turn a clinical statement: denial, doubt, whose it is, what it is for."""

from __future__ import annotations

import re

NEGATORS = frozenset(
    (
        "no", "not", "n't", "never", "nil", "deny", "denied", "denying", "without", "none",
        "nobody", "neither", "nor", "negative", "abstain", "cannot", "unaffected", "absent",
    )
)  # fmt: skip
BREAKERS = frozenset(
    (
        "but", "however", "although", "though", "except", "otherwise", "report", "endorse",
        "complain", "instead", "admit", "yes", "just",
    )
)  # fmt: skip
NO_DENIAL = frozenset(("change", "doubt", "wonder", "rush", "longer", "worries", "matter", "sure"))
"""Words after «no» or «not» that make it deny nothing clinical."""

DOUBTS = {
    "possible": 2, "possibly": 2, "maybe": 2, "perhaps": 2, "might": 2, "could": 2, "unsure": 2,
    "query": 2, "probable": 1, "probably": 1, "likely": 1, "suspected": 1, "suspect": 1,
    "definite": 0, "definitely": 0, "certain": 0, "confirmed": 0,
}  # fmt: skip
"""Words of certainty: 0 firm, 1 likely, 2 possible."""

PLANNING = frozenset(
    (
        "start", "prescribe", "prescribed", "treat", "continue", "we'll", "i'll", "i'd", "rx",
        "recommend", "order", "ordered", "arrange", "commence", "switch", "try", "give", "gonna",
    )
)  # fmt: skip
TRYING = frozenset(("tried", "helped", "worked", "help", "taken", "benefit", "helpful", "treated"))
SAFETY = frozenset(("if", "net", "netted", "flag", "event"))
DIAGNOSING = frozenset(
    ("think", "told", "putting", "diagnosis", "impression", "diagnosed", "sound")
)

NO_REPLY = frozenset(("no", "nope", "nah", "none", "not", "never", "neither", "nothing", "nil"))
YES_REPLY = frozenset(
    ("yes", "yeah", "yep", "yup", "sure", "correct", "definitely", "absolutely", "sometimes", "i")
)
FILLERS = frozenset(
    ("um", "uh", "well", "er", "hmm", "mm", "oh", "ohh", "so", "okay", "ok", "eh", "ah", "like")
)
FILLER_PHRASES = (("to", "be", "honest"), ("you", "know"), ("i", "mean"), ("let", "me", "see"))

DENIED_AFTER = re.compile(
    r"(?: \w+){0,2}? (?:absent|unaffected|negative|excluded|not|does not|doesn't|is fine|is ok)\b"
)
"""A denial behind what it denies: «febrile episodes absent», «gout does not run in the family»."""

_FAILED = re.compile(
    r"\b(?:no help|did nothing|(?:doesn't|does not|didn't|did not|don't|not|n't) (?:really )?"
    r"(?:help|work)\w*|without benefit|no (?:response|benefit|relief)|not find|no better)\b"
)
_WORKED = re.compile(r"\b(?:helped|helps|help|worked|works|benefit|good response|helpful|relief)\b")


def effect_of(sentence: str) -> int:
    """What a sentence says of a remedy: 1 it helped, -1 it did not, 0 nothing."""
    if _FAILED.search(sentence):
        return -1
    return 1 if _WORKED.search(sentence) else 0


def reply_of(stems: list[str]) -> bool | None:
    """What the first words of an answer say: True yes, False no, None neither."""
    place = 0
    while place < len(stems):
        if stems[place] in FILLERS:
            place += 1
            continue
        step = next(
            (len(f) for f in FILLER_PHRASES if tuple(stems[place : place + len(f)]) == f), 0
        )
        if not step:
            break
        place += step
    if place >= len(stems):
        return None
    word = stems[place]
    if word in NO_REPLY or word.endswith("n't"):
        return False
    if word == "i":
        return _verb_reply(stems[place + 1] if place + 1 < len(stems) else "")
    return True if word in YES_REPLY else None


def _verb_reply(verb: str) -> bool | None:
    """«I do», «I haven't»."""
    if verb.endswith("n't"):
        return False
    return True if verb in ("do", "have", "am", "did", "was") else None
