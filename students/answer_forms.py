"""Further forms of one answer: yes or no, a verdict line, a score with a list of gaps.

As in `contracts`, a parser gives a value or a `Violation` and never raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.students.contracts import (
    MAX_SCORE,
    SHORTEST,
    VERDICT_TOKENS,
    Answer,
    ScoreContract,
    Violation,
    ViolationKind,
    clash,
    one_answer,
    read_assessment,
    room_for,
)
from heldout.students.replies import ReplyObject, folded, json_objects, plain, resembles
from heldout.students.structured import Schema, listed, record, score, text, word
from heldout.students.student import ReportedGap

SEVERITIES = ("critical", "supporting", "peripheral")
ITEM_TOKENS, MOST_ITEM, MOST_ITEMS = 100, 100, 20
"""Tokens of one listed gap, characters of its text, and how many are listed, at most."""
PASSED: Mapping[str, bool] = {"pass": True, "fail": False}
_LABELLED = re.compile(r"^[^\w?]*verdict[^\w?]*\b(pass|fail)[^\w?]*$")
_ABOUT = re.compile(r"\w+")


@dataclass(frozen=True)
class YesNoContract:
    """`{"assessment": text, "answer": "yes" | "no"}`: yes is encoded 10, no 0."""

    @property
    def score_range(self) -> tuple[float, float]:
        """The encoding's ends, those of the scored answer."""
        return (0.0, MAX_SCORE)

    def parse(self, text: str) -> Answer | Violation:
        """The answer, see `one_answer`."""
        return one_answer(
            text,
            "answer",
            self.read,
            lambda answer: "yes" if answer.score else "no",
            meaning=lambda answer: answer.score,
        )

    def schema(self, tokens: int) -> Schema:
        """Assessment and answer."""
        return record(assessment=room_for(tokens), answer=word("yes", "no"))

    def read(self, found: ReplyObject) -> Answer | Violation:
        """The answer in one object."""
        said = found.one("answer")
        answer = folded(said) if isinstance(said, str) else ""
        if answer not in ("yes", "no"):
            return Violation(ViolationKind.WRONG_TYPE, '"answer" must be "yes" or "no"')
        return Answer(MAX_SCORE if answer == "yes" else 0.0, read_assessment(found))


@dataclass(frozen=True)
class VerdictLineContract:
    """Prose that ends in a line `VERDICT: PASS` or `VERDICT: FAIL`, encoded 1 and 0."""

    @property
    def score_range(self) -> tuple[float, float]:
        """Fail and pass."""
        return (0.0, 1.0)

    def parse(self, text: str) -> Answer | Violation:
        """The verdict of the lines that give one; nothing else of the text decides.

        As in `one_answer`: two that differ are a violation, and so is a last line that means to be
        a verdict and cannot be read. `{"assessment": text, "verdict": "PASS"}` is read as well.
        """
        if any(found.named("verdict") for found in json_objects(text)):
            return one_answer(
                text, "verdict", self.read, _passed_or_failed, meaning=lambda a: a.score
            )
        start, told, answers, wrong = 0, 0, list[bool](), ""
        for line in text.splitlines(keepends=True):
            verdict = _verdict_in(line)
            if verdict is not None:
                told, wrong = start, "" if verdict in PASSED else plain(line)
            if verdict:
                answers.append(PASSED[verdict])
            start += len(line)
        if wrong:
            return Violation(
                ViolationKind.WRONG_TYPE, f"its last verdict, «{wrong:.60}», is not PASS or FAIL"
            )
        if not answers:
            return Violation(
                ViolationKind.NO_OBJECT,
                'the reply has no line "VERDICT: PASS" or "VERDICT: FAIL" of its own',
            )
        if len(set(answers)) > 1:
            return clash("verdict", *("PASS" if passed else "FAIL" for passed in answers[-2:]))
        return Answer(float(answers[-1]), plain(text[:told]))

    def schema(self, tokens: int) -> Schema:
        """Assessment and verdict; a schema knows no lines."""
        return record(assessment=room_for(tokens), verdict=word("PASS", "FAIL"))

    def read(self, found: ReplyObject) -> Answer | Violation:
        """The verdict in one object."""
        said = found.one("verdict")
        passed = PASSED.get(folded(said)) if isinstance(said, str) else None
        if passed is None:
            return Violation(ViolationKind.WRONG_TYPE, '"verdict" must be "PASS" or "FAIL"')
        return Answer(float(passed), read_assessment(found))


def _verdict_in(line: str) -> str | None:
    """`pass` or `fail` of a verdict line; "" for one that cannot be read, None for other lines."""
    seen = folded(line)
    found = _LABELLED.match(seen)
    if found is not None:
        return found[1]
    words = _ABOUT.findall(seen)
    place = next((n for n, word in enumerate(words) if _is_or_resembles(word, "verdict")), None)
    if place is None:
        return None
    labelled = place == 0 and re.match(r"^\W*\w+\W*?[:=-]", seen)
    after = words[place + 1 :]
    decides = any(word.startswith(tuple(PASSED)) or _unclear(word) for word in after)
    return "" if labelled or decides else None


def _is_or_resembles(word: str, other: str) -> bool:
    return word == other or resembles(word, other)


def _unclear(word: str) -> bool:
    """True for a word that is written to look like a verdict."""
    return any(resembles(word, verdict) for verdict in PASSED)


def _passed_or_failed(answer: Answer) -> str:
    return "PASS" if answer.score else "FAIL"


@dataclass(frozen=True)
class GapListContract:
    """`{"missing": [{"item": text, "severity": word}, …], "score": 0..10}`."""

    @property
    def score_range(self) -> tuple[float, float]:
        """That of the score."""
        return (0.0, MAX_SCORE)

    def parse(self, text: str) -> Answer | Violation:
        """Score and list, both required, see `one_answer`; the list may be empty."""
        return one_answer(
            text,
            "score",
            self.read,
            lambda a: f"{a.score:g} with {len(a.findings)} missing",
            meaning=lambda a: (a.score, a.findings),
        )

    def schema(self, tokens: int) -> Schema:
        """List and score."""
        item = record(item=text(MOST_ITEM, MOST_ITEM, least=SHORTEST), severity=word(*SEVERITIES))
        most = min(MOST_ITEMS, (tokens - VERDICT_TOKENS) // ITEM_TOKENS)
        return record(missing=listed(item, 0, most), score=score(0, MAX_SCORE))

    def read(self, found: ReplyObject) -> Answer | Violation:
        """Score and list in one object."""
        scored = ScoreContract().read(found)
        if isinstance(scored, Violation):
            return scored
        entries = found.one("missing")
        if not isinstance(entries, list) or "missing" in found.conflicts:
            return Violation(ViolationKind.WRONG_TYPE, '"missing" must be a list, empty if need be')
        findings = [_finding(entry) for entry in entries]
        named = tuple(finding for finding in findings if finding is not None)
        if len(named) < len(entries):
            return Violation(
                ViolationKind.WRONG_TYPE,
                'every entry of "missing" needs an "item" and a "severity" out of '
                + ", ".join(SEVERITIES),
            )
        return Answer(scored.score, _listed(named), named)


def _finding(entry: Any) -> ReportedGap | None:
    """One listed gap, or None where it cannot be read."""
    if not isinstance(entry, ReplyObject) or entry.conflicts & {"item", "severity"}:
        return None
    item, severity = entry.one("item"), entry.one("severity")
    if not isinstance(item, str) or not isinstance(severity, str) or not plain(item):
        return None
    grade = folded(severity)
    return ReportedGap(plain(item), grade) if grade in SEVERITIES else None


def _listed(findings: tuple[ReportedGap, ...]) -> str:
    """The list in words."""
    if not findings:
        return "nothing missing"
    return "missing: " + "; ".join(f"{f.text} ({f.severity})" for f in findings)
