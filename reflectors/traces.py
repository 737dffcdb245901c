"""What the reflector reads: one textual trace a pair, failures first, inside a token budget.

A trace says what was edited, what of it survives in the note, how the errored note ranked against
its own clean twin, and what the judge itself said of both. A bare score would not tell a reflector
what to change; the whole data set would not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from heldout.reflectors.evidence import Passages, clip, closest, edited_passages, evidence_turn
from heldout.reflectors.reflector import JudgedPair
from heldout.splits.benchmark import NoteClass, Site, TraceLevel
from heldout.students.student import Judgement, ReportedGap

MAX_FACT = 400
MAX_ASSESSMENT = 500
MAX_QUOTE = 240
MAX_SITES = 4
MAX_VERDICTS = 6
MAX_FINDINGS = 4
MAX_FINDING = 120

SURVIVES = {
    TraceLevel.COMPLETE: "nothing of it is left in the note",
    TraceLevel.PARTIAL_WEAK: "a fragment of it is left in the note",
    TraceLevel.PARTIAL_STRONG: "the note states it again elsewhere",
}
EDITED = {
    NoteClass.OMIT_COMPLETE: "removed",
    NoteClass.OMIT_PARTIAL: "removed",
    NoteClass.ADD: "added",
    NoteClass.CHANGE: "altered",
}


class Ranking(StrEnum):
    """Where the judge put an errored note in relation to its own clean twin."""

    ABOVE = "above"
    TIED = "tied"
    UNSCORED = "unscored"
    BELOW = "below"

    @property
    def is_failure(self) -> bool:
        """True unless the errored note scored strictly below its clean twin."""
        return self is not Ranking.BELOW


def ranking(pair: JudgedPair) -> Ranking:
    """How the errored note of `pair` ranked; UNSCORED where one of the two has no score."""
    errored, clean = pair.errored_judgement.score, pair.clean_judgement.score
    if errored is None or clean is None:
        return Ranking.UNSCORED
    if errored == clean:
        return Ranking.TIED
    return Ranking.ABOVE if errored > clean else Ranking.BELOW


def failures_first(pairs: Sequence[JudgedPair]) -> list[JudgedPair]:
    """`pairs` from the worst ranking to the best, else in their own order."""
    order = list(Ranking)
    return sorted(pairs, key=lambda pair: order.index(ranking(pair)))


def trace(pair: JudgedPair, number: int) -> str:
    """The trace of one pair: a heading and one `field: text` line each.

    Every text is on one line and clipped, so a trace has at most about 6,000 characters whatever
    the note, the transcript and the judge said.
    """
    verdict = "failure" if ranking(pair).is_failure else "handled well"
    lines = [
        f"## Case {number} ({verdict})",
        *_edit(pair),
        f"ranking: {_ranking(pair)}",
        *_assessments(pair),
        *_findings(pair),
        *_verdicts(pair),
    ]
    return "\n".join(lines)


def _edit(pair: JudgedPair) -> list[str]:
    note, label = pair.errored, pair.errored.label
    passages = edited_passages(pair.clean.text, note.text)
    lines = [f"edit: {_kind(pair)}", f"{EDITED[label.note_class]}: {clip(_fact(pair), MAX_FACT)}"]
    if label.note_class.is_omission:
        lines.append(f"surviving mentions: {_sites(note.residual)}")
    # What was added was never said: the nearest words would only mislead.
    said = label.note_class is not NoteClass.ADD and evidence_turn(_fact(pair), note.transcript)
    if said:
        lines.append(f"closest words in the consultation: «{clip(said, MAX_QUOTE)}»")
    lines.append(f"passage in the clean twin: «{passages.clean}»")
    lines.append(f"passage in the errored note: «{passages.errored}»")
    return lines


def _kind(pair: JudgedPair) -> str:
    label = pair.errored.label
    parts = ["omission" if label.note_class.is_omission else "commission"]
    if label.severity is not None:
        parts.append(f"severity {label.severity}")
    if label.trace is not None:
        parts.append(f"trace level {label.trace} ({SURVIVES[label.trace]})")
    return ", ".join(parts)


def _fact(pair: JudgedPair) -> str:
    """The recorded fact; where a benchmark records none, what the edit took out or put in."""
    if pair.errored.fact:
        return pair.errored.fact
    passages: Passages = edited_passages(pair.clean.text, pair.errored.text, margin=0)
    return passages.clean or passages.errored


def _sites(sites: Sequence[Site]) -> str:
    if not sites:
        return "none"
    shown = [
        f"«{clip(site.quote, MAX_QUOTE)}» ({site.strength}, under {clip(site.section, 60)})"
        for site in sites[:MAX_SITES]
    ]
    return "; ".join(shown)


def _ranking(pair: JudgedPair) -> str:
    scores = (
        f"errored note {_score(pair.errored_judgement)}, clean twin {_score(pair.clean_judgement)}"
    )
    where = {
        Ranking.ABOVE: "above its clean twin",
        Ranking.TIED: "tied with its clean twin",
        Ranking.BELOW: "below its clean twin, as it should be",
        Ranking.UNSCORED: "not ranked, a score is missing",
    }
    return f"{where[ranking(pair)]} ({scores})"


def _score(judgement: Judgement) -> str:
    return f"no score: {judgement.outcome}" if judgement.score is None else f"{judgement.score:g}"


def _assessments(pair: JudgedPair) -> list[str]:
    sides = (("errored note", pair.errored_judgement), ("clean twin", pair.clean_judgement))
    return [
        f"judge on the {side}: {clip(judgement.assessment, MAX_ASSESSMENT)}"
        for side, judgement in sides
        if judgement.assessment.strip()
    ]


def _findings(pair: JudgedPair) -> list[str]:
    """For students that list what is missing: what they name in one of the two notes only."""
    if pair.errored_judgement.verdicts is not None:
        return []  # the verdicts say it more exactly
    errored, clean = pair.errored_judgement.findings, pair.clean_judgement.findings
    if not errored and not clean:
        return []
    return [
        f"named as missing from the errored note only: {_named(errored, clean)}",
        f"named as missing from the clean twin only: {_named(clean, errored)}",
    ]


def _named(findings: Sequence[ReportedGap], others: Sequence[ReportedGap]) -> str:
    known = {finding.text for finding in others}
    own = [finding for finding in findings if finding.text not in known]
    shown = [
        f"«{clip(finding.text, MAX_FINDING)}»" + (f" ({severity})" if severity else "")
        for finding in own[:MAX_FINDINGS]
        for severity in [clip(finding.severity, 20)]
    ]
    more = [f"and {len(own) - MAX_FINDINGS} more"] if len(own) > MAX_FINDINGS else []
    return "; ".join(shown + more) or "nothing"


def _verdicts(pair: JudgedPair) -> list[str]:
    """For per-fact students: which verdicts moved, and what was said of the edited fact."""
    errored, clean = pair.errored_judgement, pair.clean_judgement
    if errored.verdicts is None or clean.verdicts is None:
        return []
    facts = {**(clean.facts or {}), **(errored.facts or {})}
    moved = [
        f"«{clip(facts.get(fact, fact), MAX_QUOTE)}» {clean.verdicts[fact]} in the clean twin, "
        f"{errored.verdicts[fact]} in the errored note"
        for fact in clean.verdicts
        if fact in errored.verdicts and clean.verdicts[fact] != errored.verdicts[fact]
    ]
    shown = "; ".join(moved[:MAX_VERDICTS]) or "none"
    more = len(moved) - MAX_VERDICTS
    lines = [f"verdicts that differ: {shown}" + (f"; and {more} more" if more > 0 else "")]
    nearest = closest(_fact(pair), {fact: facts.get(fact, "") for fact in errored.verdicts})
    if nearest is not None:
        lines.append(
            f"closest listed fact: «{clip(facts[nearest], MAX_QUOTE)}» "
            f"{clean.verdicts.get(nearest, 'unanswered')} in the clean twin, "
            f"{errored.verdicts[nearest]} in the errored note"
        )
    return lines
