"""How each procedure is asked for: patterns over the verb and the object of a clause.

A `Wording` has orders that want the procedure when affirmed (`wants`), orders that want it when
forbidden (`forbids`: «do not accept a fragment»), and statements that lay it down or rule it out as
a standing rule. Everything is matched from the verb (or the subject of a rule) on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from heldout.students.simulated.clauses import Clause


@dataclass(frozen=True, slots=True)
class Wording:
    """Patterns of one procedure."""

    wants: tuple[re.Pattern[str], ...]
    forbids: tuple[re.Pattern[str], ...] = ()
    rules: tuple[re.Pattern[str], ...] = ()
    against: tuple[re.Pattern[str], ...] = ()
    ensures: tuple[re.Pattern[str], ...] = ()
    never: re.Pattern[str] | None = None


def _c(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


_CALL = (
    r"(?:count|treat|mark|call|regard|take|consider|record|score|grade|class|report|answer|give)"
)
_LOWER = (
    r"(?:penali[sz]e|punish|deduct|lower|dock|flag|reduce|subtract|take (?:off|away|points)"
    r"|mark down|pull|report)"
)
_ACCEPT = (
    r"(?:accept|tolerate|overlook|excuse|forgive|ignore|let|allow|permit|pass over|settle for"
    r"|be (?:satisfied|content)|credit|rely on|reward|give full|award full|make do)"
)
_GOOD = (
    r"\b(?:captured|present|recorded|covered|full|complete|whole|correct|equal|equivalent|same"
    r"|match)"
)
_BAD = (
    r"\b(?:absent|missing|not (?:\w+ )?(?:captured|present|recorded|enough|full|covered"
    r"|correct)|error"
    r"|wrong|mistake|omission|omitted|gap|fault|contradict\w*|incorrect|lost|miss|unsupported"
    r"|mismatch|incomplete|partial\w*|half|misplaced|failure|defect|less|lower|only)\b"
)

_SUBJECT = r"(?:an?|any|each|every|the|all|most|such|no)? ?(?:[\w'’-]+,? ){0,4}?"
_REPORTED = re.compile(
    r"\b(?:whether|might|could|would|may|says? that|said|claims? that|argue\w*|thought|debate\w*"
    r"|discuss\w*|believe\w*|suggest\w*|used to|once)\b"
)

_FACT = (
    r"\b(?:facts?|findings?|details?|items?|points?|statements?|symptoms?|pieces? of"
    r"|everything|whatever|information|content|inventory|claims?|what)\b"
)
_LIST = (
    r"(?:list|enumerate|inventory|itemi[sz]e|catalog(?:ue)?|number|tabulate|extract"
    r"|note(?: down)?|write(?: down| out)?|set (?:down|out)|jot down|put down|record|lay out"
    r"|pull (?:out|together)|draw (?:out|up)|spell out|name|count (?:off|out)|pick out|copy out"
    r"|sort out|tally)"
)
_GATHER = r"(?:collect|gather|name|state|identify|find|separate|break)"
_MAKE = (
    r"(?:make|build|draw up|compile|prepare|create|draft|write|produce|assemble|set up|take|keep"
    r"|form|do|complete|give|put together|work|open|begin|start|finish)"
)
_INVENTORY_NOUN = (
    r"\b(?:inventory|enumeration|itemi[sz]ed list|list|catalogue|register|tally|index)\b"
)

_VALUE = (
    r"\b(?:numbers?|figures?|values?|quantit\w+|dos(?:e|es|age|ages)|amounts?|durations?|dates?"
    r"|times|timings?|measurements?|sides?|laterality|left (?:and|or|from|for|versus) right"
    r"|frequenc\w+|ages?|strengths?"
    r"|numeric\w*|numerals?|digits?)\b"
)
_PARAPHRASE = (
    r"\b(?:paraphras\w*|reword\w*|rephras\w*|other words|different(?:ly)? word\w*"
    r"|differen\w+ (?:in|of)"
    r" (?:wording|words|phrasing)|own words|synonym\w*|abbreviat\w*|acronym\w*|shorthand"
    r"|(?:unit )?conversions?|converted|conversion of units|same meaning|another wording|equivalent"
    r"(?: \w+)?|(?:lay|medical|clinical|technical) (?:terms?|words?|language)|restat\w+ in other"
    r"|alternative (?:wording|phrasing)|wording|phrasing|verbatim|(?:whatever|any) words)\b"
)
_FRAGMENT = (
    r"\b(?:fragments?|part of|partial(?:ly)?|partly|half[- ]\w+|incomplete(?:ly)?|detail-?less"
    r"|without (?:\w+ ){0,3}(?:details?|specifics|qualifiers?)|lack\w* (?:\w+ ){0,3}details?"
    r"|los(?:t|es|ing) (?:\w+ ){0,2}details?|(?:vague|bare|mere|passing|thin|loose|general|generic)"
    r" (?:\w+ )?mentions?|mentions? (?:that|which|without)|only (?:a|the|its) (?:mention"
    r"|name|fragment"
    r"|part|remnant|topic)|remnants?|stripped|traces?|hints?|leftovers?|stub|less specific"
    r"|drops? (?:\w+ ){0,2}details?|details? (?:is|are|was|were)? ?(?:missing|lost|dropped|gone))\b"
)
_ELSEWHERE = (
    r"\b(?:elsewhere|(?:an)?other (?:section|place|heading|part)s?|different (?:section|heading)"
    r"|wrong (?:section|place|heading)|restate\w*|repeat\w*|repetition|second mention|misplaced"
    r"|under (?:an)?other|echo\w*)\b"
)
_OWN_SECTION = (
    r"\b(?:(?:its|their|his|her|own|proper|right|correct|expected) (?:own |proper "
    r"|right )?(?:section"
    r"|place|heading)s?|(?:section|place|heading)s? (?:\w+ )?(?:\w+ )?(?:belongs?|where (?:it|they)"
    r"|expects?)|where (?:it|they) belongs?|section by section|section it belongs"
    r"|belongs? (?:to|in|under))\b"
)
_POLARITY = (
    r"\b(?:negatives?|negat\w+|denials?|den(?:y|ies|ied)|polarity|certaint\w*|uncertain\w*|hedg\w*"
    r"|harden\w*|suspected|suspicions?|possible|possibilit\w+|absence of|ruled out|likelihood"
    r"|probab\w+"
    r"|tentative\w*|confidence|doubts?|firmness|degree of belief)\b"
)
_UNSUPPORTED = (
    r"\b(?:unsupported|(?:no|without|lacks?|lacking|any|find|finds|has|have"
    r"|for) (?:\w+ )?(?:support|basis"
    r"|source|backing)|not (?:supported|said|stated|mentioned|backed|grounded|found|heard|come)"
    r"|never (?:said|stated|mentioned|came|spoken|heard)|invent(?:ed|ions?|s)?\b"
    r"|fabricat\w*|made[- ]up"
    r"|hallucinat\w*|additions?|added|nothing in the (?:transcript|consultation)"
    r"|(?:nobody|no one|neither) (?:\w+ )?said|cannot be (?:traced|found|supported)|absent from the"
    r" (?:transcript|consultation|conversation)"
    r"|(?:transcript|consultation|conversation) (?:does not|doesn't|cannot|never|fails to)"
    r"|is supported|are supported|back to the)\b"
)
_NOTE_CLAIM = (
    r"\b(?:statements?|sentences?|claims?|lines?|assertions?|entry|entries|anything|everything"
    r"|content)\b"
)

WORDINGS = {
    "inventory": Wording(
        wants=_c(
            rf"{_LIST}\b(?:(?!\bnote\b).)*{_FACT}",
            rf"{_GATHER}\b (?:out )?(?:each|every|all)\b(?:(?!\bnote\b).)*{_FACT}",
            rf"{_MAKE}\b.*{_INVENTORY_NOUN}.*(?:{_FACT}|transcript|consultation|said)",
            rf"{_MAKE}\b.*\binventory\b",
            rf"(?:an?|the|your|any|full|complete"
            rf"|every)? ?(?:\w+ )?{_INVENTORY_NOUN}(?:.*(?:{_FACT}|"
            r"transcript|consultation|said)|$)",
            r"(?:go|work|walk|step|move|proceed|run|read|take|check|compare|test"
            r"|look) .*\b(?:facts?|"
            r"items?|statements?|findings?)\b.*(?:one by one|in turn|one at a time|by fact"
            r"|separately"
            r"|individually)",
            r"(?:go|work|walk|step|move|proceed|run|read) .*\bfact by fact",
        ),
        never=re.compile(
            r"\b(?:errors?|problems?|mistakes?|faults?|unsupported|discrepanc\w*|missing|omissions?"
            r"|omitted|invented|score|reasons?)\b(?!.*(?:transcript|consultation"
            r"|conversation|dialogue|said))"
        ),
    ),
    "fine_score": Wording(
        wants=_c(
            r"(?:score|rate|grade|mark|give|use|report|express|state|write|put|answer"
            r"|assign|award|return"
            r"|provide|choose|record|set|make|keep|carry|work|finish|end|quote|let|show|separate|"
            r"distinguish|end)\b.*(?:\bdecimals?\b|\btenths?\b|\b0[.,]1\b|after the point"
            r"|\bfractional\b"
            r"|\bfine(?:r|ly)?[- ](?:grained|scale|steps?|scores?|grades?|gradations?"
            r"|graded)|finely"
            r"|\bdigit after)",
        ),
        forbids=_c(
            r"(?:round|use|give|limit|restrict|stick|confine|settle|keep)\b.*(?:\bwhole\b"
            r"|\binteger|"
            r"\bhalf[- ]points?|\bhalves\b)",
            r"round\b.*\bscore",
        ),
        rules=_c(
            r"(?:the|your|a|each|every)? ?(?:\w+ )?scores? .*(?:decimal|tenth|0\.1)",
            r"(?:one|a|exactly one) (?:decimal|digit after).* (?:is|are) (?:required"
            r"|expected|wanted)",
        ),
        against=_c(
            r"(?:the|your|a|each|every)? ?(?:\w+ )?scores? .*(?:whole|integer)",
            r"(?:decimals?|tenths?|fractions?)\b.*(?:not|no|never|unwelcome|forbidden|pointless)",
        ),
    ),
    "values": Wording(
        wants=_c(
            r"(?:compare|check|verify|match|confirm|test|inspect|cross-check|contrast"
            r"|reconcile|audit"
            r"|validate|scrutini[sz]e|insist|require|demand|look|watch|measure|hold|weigh"
            r"|pay|attend|"
            rf"make|see|trace|read|be|keep|expect|mind)\b.*{_VALUE}",
            rf"{_CALL}\b.*{_VALUE}.*{_BAD}",
            rf"{_CALL}\b.*{_BAD}.*{_VALUE}",
            rf"{_LOWER}\b.*{_VALUE}",
        ),
        forbids=_c(
            rf"(?:{_ACCEPT}|round|approximate|gloss over|neglect|wave)\b.*{_VALUE}",
            rf"{_CALL}\b.*{_VALUE}.*{_GOOD}",
        ),
        rules=_c(
            rf"(?:an?|any|each|every|the|all)? ?(?:\w+ )?{_VALUE}.*(?:{_BAD}|(?:must|should"
            rf"|has to|have to"
            r"|needs? to) (?:match|agree|be|stay|equal))",
            rf"(?:an?|any|each|every|the)? ?(?:facts?|entr\w+|statements?"
            rf"|mentions?) .*{_VALUE}.*{_BAD}",
        ),
        ensures=_c(
            rf".*\bthe same\b.*{_VALUE}",
            rf".*{_VALUE}.*\b(?:match\w*|agrees?|equals?|tall(?:y|ies)|corresponds?|identical)\b",
        ),
        against=_c(
            rf"(?:approximate|rounded|small|minor) .*{_VALUE}.*(?:fine|acceptable|enough|harmless)"
        ),
        never=re.compile(r"\bscores? (?:to|with|in)\b|whole numbers?|decimal|from 0 to 10"),
    ),
    "paraphrase": Wording(
        wants=_c(
            rf"(?:{_ACCEPT}|admit|recogni[sz]e|honou?r|look past|see past)\b.*{_PARAPHRASE}",
            rf"{_CALL}\b.*{_PARAPHRASE}.*{_GOOD}",
            rf"{_CALL}\b.*{_GOOD}.*{_PARAPHRASE}",
            rf"(?:give|grant|award) (?:full |the |due )?credit (?:for|to)\b.*{_PARAPHRASE}",
            rf"(?:answer|say|write) (?:yes|present|full) (?:if|where|when)\b.*{_PARAPHRASE}",
            r"(?:match|compare|judge|look|go|check|search)\b.*\b(?:meaning|sense|substance)\b",
        ),
        forbids=_c(
            rf"(?:{_LOWER}|reject|object|dismiss|fault|insist|require|demand|expect|question)\b.*"
            rf"{_PARAPHRASE}",
            rf"{_CALL}\b.*{_PARAPHRASE}.*{_BAD}",
            rf"{_CALL}\b.*{_BAD}.*{_PARAPHRASE}",
        ),
        rules=_c(
            rf"(?!.*\b(?:is|are|does|do|counts?) (?:not|no"
            rf"|never)\b){_SUBJECT}{_PARAPHRASE}.*?(?:counts?|is|are|"
            rf"qualif\w+|suffices?|passes|earns|stands?)\b.*(?:{_GOOD}|enough|fine"
            rf"|acceptable|accepted|ok)",
            rf"{_SUBJECT}{_PARAPHRASE}.*(?:is|are) (?:not|no) (?:an? )?(?:error|omission|fault"
            rf"|mistake|gap|missing)",
            rf"(?:an?|the|each|every)? ?(?:fact|item|point|finding|it)\b.{{0,12}}\b(?:is"
            rf"|counts as) "
            r"(?:fully )?(?:recorded|present|captured|covered) (?:if|when|where)\b"
            rf".*{_PARAPHRASE}",
            r"(?:the )?(?:wording|words|phrasing)s? (?:need not|does not (?:have|need) to"
            r"|do not (?:have|need) to)\b",
        ),
        against=_c(
            rf"{_SUBJECT}{_PARAPHRASE}.*(?:not (?:count|captured|acceptable|enough)|never"
            rf"|unacceptable)"
        ),
        never=re.compile(r"\b(?:fragments?|elsewhere|different doses?)\b"),
    ),
    "partial": Wording(
        wants=_c(
            rf"{_LOWER}\b.*{_FRAGMENT}",
            r"(?:give|award|allow|grant) (?:only |at most |just )?(?:half|part|partial"
            r"|reduced|less).*",
            rf"(?:{_CALL}|credit|rate)\b.*{_FRAGMENT}.*{_BAD}",
            rf"(?:{_CALL}|credit|rate)\b.*{_BAD}.*{_FRAGMENT}",
            r"(?:require|demand|expect|insist|ask|look|want|check|verify"
            r"|hold)\b.*\b(?:(?:all|every|each|"
            r"full|its|their|whole|complete)\b (?:of )?(?:the |its )?(?:details?|specifics"
            r"|qualifiers?)"
            r"|in full|whole fact|completely|full fact|with its details?)\b",
            r"(?:distinguish|separate|tell)\b.*(?:full|complete).*(?:partial|fragment|mention)",
        ),
        forbids=_c(
            rf"(?:{_ACCEPT}|{_CALL})\b.*{_FRAGMENT}",
        ),
        rules=_c(
            r".{0,30}?\b(?:is|counts as) (?:only )?(?:partial(?:ly)?"
            r"|incomplete)\b.*\b(?:details?|part)\b",
            r"(?:the|that|a) details? (?:is|are|counts as) (?:missing|lost|absent|an omission)\b",
            rf"{_SUBJECT}{_FRAGMENT}.*\b(?:is|are|does|do|earns?"
            rf"|scores?|deserves?|"
            rf"counts?|gets?|remains?|must|should|cannot)\b.*(?:{_BAD}|not\b|no\b)",
        ),
        against=_c(
            rf"{_SUBJECT}{_FRAGMENT}.*(?:counts? as|is) (?!not\b|never\b"
            rf"|no\b)(?:\w+ )?(?:captured|enough|full|fine)"
        ),
        never=re.compile(r"\belsewhere\b|\bsection\b"),
    ),
    "placement": Wording(
        wants=_c(
            r"(?:check|require|demand|insist|expect|look|hold|verify|want|judge|search|read"
            r"|confirm|ask|test"
            rf"|see|make|compare|seek|find)\b.*{_OWN_SECTION}",
            rf"(?:{_LOWER})\b.*(?:{_ELSEWHERE}|{_OWN_SECTION})",
            rf"{_CALL}\b.*(?:{_ELSEWHERE}|{_OWN_SECTION}).*{_BAD}",
            rf"{_CALL}\b.*{_BAD}.*(?:{_ELSEWHERE}|{_OWN_SECTION})",
            r"(?:judge|check|read|take|go|compare)\b.*\b(?:section by section"
            r"|each section (?:by itself"
            r"|alone|on its own|for its own))",
        ),
        forbids=_c(
            rf"(?:{_ACCEPT}|{_CALL}|trust)\b.*{_ELSEWHERE}",
        ),
        rules=_c(
            r"(?:each|every|an?|the) section (?:must|should|has to|needs to|is to"
            r"|have to) .*\bown\b",
            rf"{_SUBJECT}{_ELSEWHERE}.*\b(?:does|do|is|are|cannot|can|must|should|will"
            rf"|makes?|earns?)\b ?"
            r"(?:not|no|never|nothing|n't)\b",
            rf"{_SUBJECT}{_ELSEWHERE}.*\b(?:is|are|counts?)\b.*{_BAD}",
            r"(?:an?|each|every|the) facts? (?:must|should|has to|belongs?|needs to) .*\bsection",
        ),
        against=_c(
            rf"{_SUBJECT}{_ELSEWHERE}.*(?:counts?|is|are) (?:as )?(?:enough|captured|fine"
            rf"|sufficient)"
        ),
    ),
    "polarity": Wording(
        wants=_c(
            r"(?:compare|check|verify|confirm|watch|look|match|test|inspect|mind|attend|pay"
            r"|keep|distinguish"
            r"|note|cross-check|contrast|scrutini[sz]e|track|see|make|read|be|separate|hold"
            r"|audit|preserve"
            rf"|weigh)\b.*{_POLARITY}",
            rf"{_LOWER}\b.*{_POLARITY}",
            rf"{_CALL}\b.*{_POLARITY}.*{_BAD}",
            rf"{_CALL}\b.*{_BAD}.*{_POLARITY}",
        ),
        forbids=_c(
            rf"(?:{_ACCEPT}|confuse|conflate|equate|blur|neglect|turn|swap|mix|treat|take|read)\b"
            rf".*{_POLARITY}",
        ),
        rules=_c(
            rf"(?:an?|any|each|every|the|all)? ?(?:\w+ ){{0,3}}?{_POLARITY}.*(?:{_BAD}"
            rf"|(?:must|should|has to"
            r"|have to|needs? to) (?:match|agree|be|stay|remain|survive))",
        ),
        ensures=_c(
            rf".*{_POLARITY}.*\b(?:stays?|remains?|match\w*|agrees?|survives?|kept"
            rf"|preserved|carried)\b"
        ),
        never=re.compile(r"\bfalse negatives?\b|\bcertainty of (?:the|your) (?:score|judg)"),
    ),
    "unsupported": Wording(
        wants=_c(
            r"(?:look|search|check|find|list|hunt|watch|scan|identify|verify|test|ask|name"
            r"|trace|read|go"
            r"|point|note|demand|require|make|see|seek|inspect|question|mark|be|confirm"
            r"|scrutini[sz]e)\b"
            rf".*{_UNSUPPORTED}",
            rf"{_LOWER}\b.*{_UNSUPPORTED}",
            rf"{_CALL}\b.*{_UNSUPPORTED}.*{_BAD}",
            rf"{_CALL}\b.*{_BAD}.*{_UNSUPPORTED}",
            r"(?:check|compare|verify|trace|test|hold|match|read|find|look)\b.*"
            rf"{_NOTE_CLAIM}.*\bnote\b.*\b(?:against|in|with|to|from|for)\b.*(?:transcript"
            rf"|consultation"
            r"|conversation|support|source|basis)",
        ),
        forbids=_c(rf"(?:{_ACCEPT}|neglect)\b.*{_UNSUPPORTED}"),
        rules=_c(
            r"(?:an?|each|every) statement is (?:not )?supported (?:if|only|when)\b",
            rf"{_SUBJECT}{_NOTE_CLAIM}.*\b(?:must|should|has to|needs?|need to"
            rf"|have to)\b.*\b(?:support\w*|basis"
            r"|source|backed|grounded|rest on|come from|traceable)",
            rf"{_SUBJECT}(?:note|{_NOTE_CLAIM}).*{_UNSUPPORTED}.*(?:is|are|counts?) .*{_BAD}",
        ),
        never=re.compile(
            r"\b(?:fact|facts) .*(?:missing|absent) from the note|missing from the note"
        ),
    ),
}

_NONE_OF = re.compile(
    r"^\S+(?: \S+){0,2}? (?:no|none|nothing|neither|zero)\b(?! (?:support|basis|source))"
)


def asks_for(skill: str, clause: Clause) -> bool | None:
    """True if `clause` asks for `skill`, False if it rules it out, None if it is silent."""
    wording = WORDINGS[skill]
    text = clause.text
    if wording.never is not None and wording.never.search(text):
        return None
    if clause.asks:
        negated = clause.negated != bool(_NONE_OF.match(text))
        if any(pattern.match(text) for pattern in (*wording.wants, *wording.ensures)):
            return not negated
        if any(pattern.match(text) for pattern in wording.forbids):
            return negated
    if clause.negated or (not clause.asks and _REPORTED.search(text)):
        return None
    if any(pattern.match(text) for pattern in wording.against):
        return False
    return True if any(pattern.match(text) for pattern in wording.rules) else None
