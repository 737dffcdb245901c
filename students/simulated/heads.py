"""The head of a clause: who is asked, whether it is negated, and the verb it hangs on.

Peeling takes what stands before the verb off the front of a clause («please», «make sure that you
do not», «there is no need to») until the verb is reached, and remembers what it meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from heldout.students.simulated.verbs import PARTICIPLES, VERBS, base_form


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


_MODAL = r"(?:must|should|shall|ought to|will|has to|have to|needs? to|(?:is|are) to)"
_YOU = r"(?:you|the (?:judge|checker|reviewer|assessor|grader|reader|rater)|we|please)"

_SKIP = re.compile(
    r"(?:please|first(?:ly)?(?: of all)?|second(?:ly)?|third(?:ly)?|next|then|finally|lastly|last"
    r"|also|now|always|again|here|only|just|simply|carefully|thoroughly|explicitly|strictly"
    r"|systematically|silently|mentally|briefly|actively|separately|in addition|above all|so"
    r"|in particular|of course|to begin with|at the start|at the end|before anything else|and|or"
    r"|but|yet|afterwards|thereafter|in your working|in the working|for that|to do so|to this end"
    r"|not only|likewise|similarly|moreover|furthermore|further|instead|too|additionally"
    r"|conversely|equally|rather|as a rule|in every case|in each case|step \w+|rule \w+|that|note"
    r"|remember|keep in mind|bear in mind|(?:note|remember|mind) that"
    r"|most importantly|importantly|specifically|therefore|thus|hence|immediately"
    r"|(?:\(?(?:\d{1,2}|[a-e])[.):])|[-*•–—#]+)(?=\W|$)[\s,:.]*",
    re.I,
)
_CONTROL = re.compile(
    rf"(?:{_YOU} (?:really |always |first |also )?{_MODAL}"
    rf"|{_YOU} (?:are|is) (?:asked|required|expected|told|instructed|obliged) to"
    r"|(?:make|be|making|being) (?:very |quite |absolutely )?(?:sure|certain)(?: to"
    r"| that)?(?: you)?"
    r"|ensure(?: that)?(?: you)?|see (?:to it )?that(?: you)?|take care (?:to|that)(?: you)?"
    r"|be (?:careful|strict|prepared|ready) to|remember to|do not forget to|don't forget to"
    r"|never forget to|do not fail to|never fail to|try(?: hard)? to|aim to|learn to|do(?= \w)"
    r"|(?:start|begin|open|proceed|work|continue|judge(?: it)?|score(?: it)?|do so|do this) by"
    r"|(?:start|begin|open|proceed|continue|work) (?:with|from)|go on to|by|let us|let's"
    r"|(?:your|the|one) (?:\w+ ){0,2}?(?:task|job|step|duty|work|aim|goal|move|action)"
    r" (?:here )?(?:is|will be) to|(?:i|we) (?:want|ask|need|expect|would like) you to"
    r"|i'd like you to"
    r"|it is (?:very |most )?(?:essential|important|necessary|vital|required|crucial|imperative"
    r"|your \w+) (?:to|that you)|having|after|once|you have|you've|until|unless|before)(?=\W|$)\s*",
    re.I,
)
_NEGATE = re.compile(
    rf"(?:(?:please )?(?:do not|don't|don’t|never|cannot|must not|should not|shall not)"
    rf"(?: ever| just| simply| merely| (?:bother|try|attempt|seek|rush|hurry|want|need) to)?"
    rf"|{_YOU} (?:must|should|shall|will|ought|need|are|do|is|has|have)(?:n't|n’t| not| never)"
    rf"(?: need)?(?: to)?"
    r"|avoid|refrain from|abstain from|resist|stop|skip(?:ping)?|forgo|omit|drop"
    r"|dispense with|do away with|do without|steer clear of|decline to|forget about|forget|ignore"
    r"|disregard|leave out|leave aside|set aside"
    r"|(?:there is |there's |you have |there will be )?no (?:need|reason|call|obligation|point)"
    r" (?:to|for|in|of)(?: you to)?"
    r"|(?:there is|you have)(?:n't| not) (?:a |any )?(?:need|reason|point) (?:to|in)"
    r"|not(?: to| by)?|without(?: first)?(?: ever)?|instead of|rather than|in place of|neither|nor"
    r"|(?:under|in|on) no (?:circumstances|case|account)|at no (?:point|time|stage)|by no means"
    r"|(?:make sure|take care|be careful|be sure|try|see|ensure) not to|far from|as opposed to"
    r"|it is (?:not |never |in no way )(?:\w+ )?(?:to|that you)"
    r"|it is (?:unnecessary|wrong|pointless|forbidden|useless|a mistake|wasteful|harmful|an error"
    r"|counterproductive) (?:to|that you))(?=\W|$)\s*",
    re.I,
)
_VOID = re.compile(
    r"(?:feel free to|(?:you|one|we|they|it|this|that|the judge) "
    r"(?:may|might|could|can|would|need not have)\b|if (?:you|asked|time|there (?:is|were|was)"
    r"|needed|necessary|possible|desired|instructed|only|one|told|anyone|someone|i|we|it were)\b"
    r"|were you|had you|should you\b(?!.*,)|suppose|supposing|imagine|assume|pretend|consider"
    r"|according to|perhaps|maybe|unlike|whether|think (?:about|of)|decide whether|as if|like"
    r"|in (?:an?|the|some|other|earlier|previous|former|older)"
    r" ?(?:earlier|previous|old|older|former|other|ideal|another|different|past|world)|elsewhere"
    r"|some|other|others|many|most (?:judges|reviewers|people)|people|nobody|no one|someone"
    r"|another (?:judge|reviewer|prompt|team|model)|explain|describe|discuss|translate|summari[sz]e"
    r"|define|quote|cite|criticise|criticize|recall|why|how|what|when would|as an alternative"
    r"|alternatively|optionally|ideally)(?=\W|$)",
    re.I,
)
_LEAD = re.compile(
    r"(?P<word>for|in|with|on|at|from|to|as|when|while|where|whenever|wherever|during|since"
    r"|because|given|if|within|under|across|throughout|though|although)\b[^,]{1,120},\s*",
    re.I,
)
_ADVERB = r"(?:then |first |each |all |always |also |only |\w+ly )*"
_PASSIVE = re.compile(
    rf"(?P<subject>.{{2,90}}?) (?:(?:{_MODAL}|(?:has|have) to)(?P<no1> not| never)? be"
    rf"|(?:need|do|does)(?P<no2> not|n't)(?: need to)?(?: have to)? be"
    rf"|(?P<late>(?:has|have|is|are)(?: all)?(?: been)?)) {_ADVERB}(?P<verb>[a-z-]+)\b(?P<rest>.*)",
    re.I,
)
_AGENT = re.compile(r"\bby (?:the |an?|any|some|other|another|someone|others|hand)\b", re.I)


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
