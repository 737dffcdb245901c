"""A block taken apart into clauses, each with what governs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from heldout.students.simulated.heads import Head, peel
from heldout.students.simulated.quotes import SHOWN, without_quotations
from heldout.students.simulated.verbs import VERBS


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause in lower case, from its verb on (a rule from its subject on).

    `asks`: an order or obligation; False for a plain statement. `negated`: it forbids.
    """

    text: str
    asks: bool
    negated: bool


_SENTENCE = re.compile(r"(?<=[.!?])[\"”»)\]]*\s+(?=\S)|\n\s*\n")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|cf|vs|approx|no|dr)\.$", re.I)
_STARTS = "|".join(sorted(VERBS, key=len, reverse=True))
_ADVERBS = (
    r"(?:then |also |only then |next |finally |always |never |do not |don't |please |\w+ly )*"
)
_SPLIT = re.compile(
    rf"\s*[;—–]\s*|\s+--?\s+|:\s+"
    rf"|,?\s+(?P<join>and|or|but|nor|then|so|yet)\s+(?={_ADVERBS}(?:{_STARTS}|not|you|"
    r"never|without|that|they|it|this|these)\b)"
    rf"|,\s+(?P<list>)(?={_ADVERBS}(?:{_STARTS}|not|you|never|without|do|don't|a|an|the|each|every"
    r"|instead of|rather than)\b)"
    r"|,?\s+(?P<under>(?:before|until|unless|after|once)(?= )"
    r"|(?:without|instead of|rather than|by|not by)"
    r"(?= (?:first |ever |merely |simply )?(?!(?:mean|word|phras|noth|someth|everyth|anyth"
    r"|find)ing\b)\w+ing\b| (?:an?|any|the) (?:\w+ )?(?:inventory|list|enum)))"
    r"\s+",
    re.I,
)
_SUBORDINATE = re.compile(
    r"(?P<lead>(?:before|until|unless|after|once|without|instead of|rather than|in place of)\b"
    r"[^,;:]{2,140}),\s*",
    re.I,
)
_OPENER = re.compile(
    r"(?:for|in|with|on|at|from|to|as|when|while|where|whenever|wherever|during|since|because|given"
    r"|if|within|under|across|throughout|though|although)\b",
    re.I,
)
_SHOWS = re.compile(
    r"\b(?:example|examples|quotation|said|says|say|wrote|writes|goes|ran|went|phrase|phrases"
    r"|sentence|wording|prompts?|version|versions|colleagues?|advice|slogan|motto|title|heading"
    r"|headline|reads?|text|texts|template|memo|others?|ignore|disregard|translate|obsolete|old"
    r"|not to do|don'ts|procedures?|techniques?|methods?|habits?"
    r"|instructions? (?:was|were|to ignore)|withdrawn|deleted|removed)\b[^:]*$"
    r"|\b(?:do not|don't|never|avoid)(?: ever)?(?: do)?(?: any of)?"
    r"(?: (?:the following|these|this|any such thing))?$",
    re.I,
)
_VOIDS_NEXT = re.compile(
    r"\b(?:ignore|disregard|do not follow|don't follow|not apply|example|quot\w+|struck|deleted"
    r"|obsolete|withdrawn|not an instruction|not instructions)\b.*\b(?:next|following|below|what"
    r" follows)\b|\b(?:next|following)\b.*\b(?:is|are)\b.*\b(?:example|quot\w+|not (?:an? )?"
    r"(?:instruction|order|request)|obsolete|withdrawn|void)\b",
    re.I,
)
_CANCELS = re.compile(
    r"^(?:ignore|disregard|forget|do not follow|don't follow)\b.*\b(?:above|previous|preceding"
    r"|last) (?:sentence|line|instruction|rule|step|paragraph|point)\b",
    re.I,
)
_COURTESY = re.compile(r"^(?:could|would|will|can) you (?:please |kindly )(?P<rest>.*)\?$", re.I)


def sentences(text: str) -> list[str]:
    """Sentences of `text`, each on one line; what a line only shows after a colon is cut off."""
    found: list[str] = []
    showing = False
    for paragraph in re.split(r"\n", text):
        line = " ".join(paragraph.split())
        if not line:
            showing = False
            continue
        if showing and re.match(r"[-*•–\d(]", line):
            continue
        showing = False
        for sentence in _sentences_of(line):
            kept = _shown_cut(sentence)
            showing = kept != sentence
            found.append(kept)
    return _apply_scopes(found)


def _sentences_of(line: str) -> Iterator[str]:
    start = 0
    for gap in _SENTENCE.finditer(line):
        if _ABBREVIATION.search(line[start : gap.start()]):
            continue
        if re.fullmatch(r"[-*•#\s]*[\da-eA-E]{1,2}[.)]", line[start : gap.start()]):
            continue
        yield line[start : gap.start()]
        start = gap.end()
    yield line[start:]


def _shown_cut(sentence: str) -> str:
    """`sentence` without what stands after a colon that introduces a mention."""
    for colon in re.finditer(r":(?=\s|$)", sentence):
        if _SHOWS.search(sentence[: colon.start()]):
            return sentence[: colon.start()] + f" {SHOWN}"
    return sentence


def _apply_scopes(found: list[str]) -> list[str]:
    """Drop sentences that another sentence declares void."""
    kept: list[str] = []
    void_next = False
    for sentence in found:
        if void_next:
            void_next = False
            continue
        void_next = bool(_VOIDS_NEXT.search(sentence))
        if _CANCELS.search(sentence):
            del kept[-1:]
            continue
        kept.append(sentence)
    return kept


def clauses(block: str) -> tuple[Clause, ...]:
    """The clauses of `block` that could ask for something, in order."""
    text = re.sub(r"\s*[()\[\]]\s*", ", ", without_quotations(block.replace("’", "'")))
    return tuple(clause for sentence in sentences(text) for clause in _of_sentence(sentence))


def _of_sentence(sentence: str) -> Iterator[Clause]:
    """Clauses of one sentence; a question asks for nothing unless it is a courtesy."""
    text = sentence.strip().lower()
    if courtesy := _COURTESY.match(text):
        text = courtesy["rest"]
    elif text.endswith("?"):
        return
    text = text.rstrip(".!? ")
    if lead := _SUBORDINATE.match(text):
        head = peel(lead["lead"], dependent=True)
        if not head.void:
            yield Clause(head.text, head.asks, head.negated)
        text = text[lead.end() :]
    yield from _segments(text)


def _segments(sentence: str) -> Iterator[Clause]:
    """Clauses between conjunctions; each hangs on the one before unless it has its own subject."""
    frame = Head("")
    listed = False
    opened, condition = False, ""
    for joint, segment in _pieces(sentence):
        head = peel(segment, dependent=joint == "under")
        if not opened and not head.void and (not head.text or _OPENER.match(segment)):
            condition = segment  # «to begin with», «if a dose differs»
            continue
        if joint == "under" and opened:
            yield from () if head.void or frame.void else (_dependent(head, frame, segment),)
            continue
        if opened and joint in ("join", "or", "list"):
            own = _has_own_subject(segment)
            inert = (frame.void or not frame.asks) and not own
            void = head.void or (inert and (head.asks or frame.void))
            head = replace(head, void=void)
            carries = joint == "or" or (joint == "list" and listed) or joint == "join"
            if carries and frame.negated and not head.negated and not own:
                head = replace(head, negated=True)
        frame, opened = head, True
        listed = frame.negated and " or " in sentence
        if not head.void:
            text = f"{head.text} ({condition})" if condition else head.text
            yield Clause(text, head.asks, head.negated)


def _dependent(head: Head, frame: Head, segment: str) -> Clause:
    """A clause behind «before», «without», «by»: negated by its own words, and by «without»."""
    negated = head.negated
    if re.match(r"(?:without|instead of|rather than)\b", segment):
        negated = negated != (frame.negated and segment.startswith("without"))
    elif segment.startswith("by "):
        negated = negated != frame.negated
    return Clause(head.text, head.asks, negated)


def _has_own_subject(segment: str) -> bool:
    return bool(
        re.match(r"(?:you|please|instead|it is (?:essential|important|necessary))\b", segment)
    )


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """(how it is joined, segment) from left to right."""
    start, joint = 0, "start"
    for cut in _SPLIT.finditer(text):
        if cut.start() < start:
            continue
        yield joint, text[start : cut.start()].strip(" ,")
        start, joint = cut.end(), _joint(cut)
        if cut["under"]:
            start = cut.start("under")
    yield joint, text[start:].strip(" ,")


def _joint(cut: re.Match[str]) -> str:
    if cut["under"]:
        return "under"
    if cut["join"]:
        word = cut["join"].lower()
        return {"or": "or", "nor": "or", "and": "join"}.get(
            word, "reset" if word == "so" else "but"
        )
    return "list" if cut["list"] is not None else "reset"
