"""Objectives: what ranks candidates on accept, and how ties are broken."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.benchmarks.in_process import consultation

from heldout.gepa.candidates import Candidate, Origin, Status
from heldout.gepa.objective import DetectionFirst, PairedFirst, SeverityWeighted, best
from heldout.gepa.statistics.rates.detection import swept
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Severity

NOTES = [note for k in range(20) for note in consultation(k).notes]
LABELS = tuple(note.label for note in NOTES)


def table(clean: float, omission: float, commission: float) -> ScoreTable:
    scores = [
        clean if label.is_clean else omission if label.note_class.is_omission else commission
        for label in LABELS
    ]
    return ScoreTable(LABELS, tuple(scores))


def candidate(id_: str, scores: ScoreTable, length: int = 10) -> Candidate:
    return Candidate(
        id_, Origin.MUTATION, (), 1, Status.ENTERED, "x", "0" * 64, length, accept=scores
    )


def test_paired_first_ranks_by_pairs_then_by_detection() -> None:
    assert PairedFirst().rank(table(8, 5, 9)) == (1.0, 40.0)
    assert PairedFirst().rank(table(8, 8, 2)) == (0.5, 0.0)
    assert PairedFirst("paired_commissions").rank(table(8, 9, 2)) == (1.0, 40.0)


def test_detection_first_turns_the_order_round() -> None:
    assert DetectionFirst().rank(table(8, 5, 9)) == (1.0, 1.0)
    assert DetectionFirst().rank(table(8, 8, 9)) == (0.0, 0.5)


def test_a_table_without_a_pair_ranks_below_every_real_one() -> None:
    none = ScoreTable(LABELS, tuple(None for _ in LABELS))
    assert PairedFirst().rank(none)[0] == -1.0
    assert PairedFirst().rank(none) < PairedFirst().rank(table(5, 9, 9))


def answering(right: int, silent: int) -> ScoreTable:
    """Of 40 pairs `right` are ordered rightly, `silent` left unanswered, the others tied."""
    errored = [k for k, label in enumerate(LABELS) if label.note_class.is_omission]
    scores: list[float | None] = [8.0] * len(LABELS)
    for place, row in enumerate(errored):
        silence = place >= len(errored) - silent
        scores[row] = None if silence else 5.0 if place < right else 8.0
    return ScoreTable(LABELS, tuple(scores))


@pytest.mark.parametrize("objective", [PairedFirst, DetectionFirst])
@pytest.mark.parametrize(
    ("easy", "whole"), [((24, 16), (30, 0)), ((10, 30), (12, 0)), ((20, 20), (20, 0))]
)
def test_not_answering_the_hard_pairs_never_pays(objective, easy, whole) -> None:
    """A block that answers 24 easy pairs of 40 does not beat one that answers all."""
    assert objective().rank(answering(*easy)) < objective().rank(answering(*whole))
    as_before = objective(denominator="answered")
    assert as_before.rank(answering(*easy))[-1 if objective is DetectionFirst else 0] == 1.0


def test_detection_comes_first_where_it_is_primary() -> None:
    for scores in (table(8, 5, 9), answering(24, 16), table(8, 8, 9)):
        first = PairedFirst("detection_at_cap").rank(scores)
        assert first == DetectionFirst("detection_at_cap").rank(scores)
        assert first[0] == pytest.approx(swept(scores).detection.rate)


def test_severity_weighted_is_the_formula_of_the_study() -> None:
    # Everything flagged but the clean notes: 0.45 + 0.20 + 0.35.
    assert SeverityWeighted().rank(table(8, 5, 5)) == pytest.approx((1.0,))
    # Omissions alone: commissions score above the threshold.
    assert SeverityWeighted().rank(table(8, 5, 9)) == pytest.approx((0.8,))
    assert SeverityWeighted().rank(table(5, 8, 8)) == pytest.approx((0.35,))


def test_severity_weighs_what_is_found() -> None:
    labels = tuple(
        replace(label, severity=Severity.PERIPHERAL) if label.trace == "complete" else label
        for label in LABELS
    )
    # One peripheral and one supporting omission a consultation: found only the supporting one.
    scores = [
        8.0
        if label.is_clean or label.trace == "complete" or label.note_class.is_commission
        else 5.0
        for label in labels
    ]
    share = 0.5 / 0.75
    found = SeverityWeighted().rank(ScoreTable(labels, tuple(scores)))
    assert found == pytest.approx((0.45 * share + 0.35,))


def test_ties_go_to_the_shorter_and_then_to_the_older() -> None:
    same = table(8, 5, 5)
    pool = [candidate("c02", same, 12), candidate("c01", same, 10), candidate("c00", same, 10)]
    assert best(pool, PairedFirst()).id == "c00"
    assert best(pool[:2], PairedFirst()).id == "c01"
    assert best([*pool, candidate("c03", table(8, 5, 9), 1)], PairedFirst()).id == "c03"
