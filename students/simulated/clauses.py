"""A block taken apart into clauses, each with what governs it; the patterns: `clauses.yaml`.

What a block only shows, as against what it says (quotations, examples, struck-out text), is left
out first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from heldout.splits.word_tables import WordTable
from heldout.students.simulated.heads import VERBS, Head, peel

SHOWN = "QUOTED"
"""Stands where quoted words stood."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause in lower case, from its verb on (a rule from its subject on).

    `asks`: an order or obligation; False for a plain statement. `negated`: it forbids.
    """

    text: str
    asks: bool
    negated: bool


_STARTS = "|".join(sorted(sorted(VERBS), key=len, reverse=True))  # the same in every process
TABLE = WordTable("heldout.students.simulated", "clauses.yaml", STARTS=_STARTS)
_SENTENCE = TABLE.pattern("sentence")
_ABBREVIATION = TABLE.pattern("abbreviation", re.I)
_SPLIT = TABLE.pattern("split", re.I)
_SUBORDINATE = TABLE.pattern("subordinate", re.I)
_OPENER = TABLE.pattern("opener", re.I)
_SHOWS = TABLE.pattern("shows", re.I)
_VOIDS_NEXT = TABLE.pattern("voids_next", re.I)
_CANCELS = TABLE.pattern("cancels", re.I)
_COURTESY = TABLE.pattern("courtesy", re.I)
_FENCE = TABLE.pattern("fence", re.S)
_QUOTED_LINE = TABLE.pattern("quoted_line", re.M)
_PAIRS = TABLE.pattern("pairs", re.M)


def _unquote(match: re.Match[str]) -> str:
    inner = match.group().strip("“”«»„‹›\"`‘’' \t.,;:!?")
    # One quoted word is a label («absent») or emphasis, and carries the sentence it stands in.
    return inner if len(inner.split()) == 1 else f" {SHOWN} "


def without_quotations(text: str) -> str:
    """`text` with each quotation of two words or more replaced by `SHOWN`."""
    text = _QUOTED_LINE.sub(f"{SHOWN}.", _FENCE.sub(f" {SHOWN} ", text))
    return _PAIRS.sub(_unquote, text)


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
