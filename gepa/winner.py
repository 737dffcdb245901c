"""The winner on accept: by the primary measure, then swept detection, then shorter, then older."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.gepa.candidates import Candidate
from heldout.gepa.settings import Primary
from heldout.gepa.statistics.detection import swept
from heldout.gepa.statistics.paired import paired
from heldout.gepa.statistics.selection import Selection
from heldout.gepa.statistics.table import ScoreTable

SELECTION: dict[Primary, Selection] = {
    "paired_omissions": "omission",
    "paired_commissions": "commission",
}
"""The pairs each primary measure is about."""


def primary_value(table: ScoreTable, primary: Primary) -> float:
    """The primary measure in [0, 1]; below every real value where no pair has both scores."""
    value = paired(table, SELECTION[primary]).value
    return -1.0 if value is None else value


def choose(entered: Sequence[Candidate], primary: Primary) -> Candidate:
    """The winner among candidates scored on accept. Raises ValueError for none."""

    def rank(candidate: Candidate) -> tuple[float, int, int, str]:
        table = candidate.accept
        assert table is not None  # the pool admits no entered candidate without scores
        detected = swept(table, select=SELECTION[primary]).detection.k
        return (-primary_value(table, primary), -detected, candidate.length, candidate.id)

    return min(entered, key=rank)
