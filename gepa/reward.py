"""Rewards: what one judged note is worth to the search.

The formulas are those of the study's confirmatory campaign. A reward is a strategy, a frozen
dataclass with one method, so that its configuration is journalled with the campaign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from heldout.splits.benchmark import NoteLabel

Scores = Mapping[str, float | None]
"""Score by note id; None where a note was judged but has no score."""

TIE_REWARD = 0.25


class Reward(Protocol):
    """Values one note, given the scores of a block."""

    def of(self, label: NoteLabel, scores: Scores) -> float:
        """Reward in [0, 1]; `scores` holds the note and its clean twin."""


@dataclass(frozen=True, slots=True)
class RankReward:
    """The study's reward: clean notes earn their scaled score, errored notes their rank.

    Clean: score scaled to [0, 1]. Errored: 0 above its clean twin, 0.25 tied, else
    min(1, 0.5 + slope x difference). A note without a score, or beside a twin without one, earns 0.

    `slope` is per score unit: 10 for coverage in [0, 1], 1/6 for scores in [0, 10].
    """

    low: float
    high: float
    slope: float

    def of(self, label: NoteLabel, scores: Scores) -> float:
        """Reward of one note."""
        score, twin = scores[label.id], scores[label.twin]
        if score is None or twin is None:
            return 0.0
        if label.is_clean:
            return (score - self.low) / (self.high - self.low)
        if score > twin:
            return 0.0
        if score == twin:
            return TIE_REWARD
        return min(1.0, 0.5 + self.slope * (twin - score))


def rank_reward(score_range: tuple[float, float]) -> RankReward:
    """The study's reward for a student whose scores lie in `score_range`."""
    low, high = score_range
    return RankReward(low, high, slope=10.0 if high - low <= 1 else 1 / 6)


def mean_reward(
    reward: Reward, labels: Sequence[NoteLabel], scores: Scores, clean_weight: float
) -> float:
    """Weighted mean reward in [0, 1]: errored notes weigh 1, clean notes `clean_weight`."""
    weights = [clean_weight if label.is_clean else 1.0 for label in labels]
    values = [reward.of(label, scores) for label in labels]
    total = sum(weights)
    return sum(w * v for w, v in zip(weights, values, strict=True)) / total if total else 0.0


def win_value(label: NoteLabel, scores: Scores) -> float:
    """How an errored note stands to its own twin: 1 below, 0.5 tied, 0 above or without a score."""
    score, twin = scores[label.id], scores[label.twin]
    if score is None or twin is None:
        return 0.0
    return 1.0 if score < twin else 0.5 if score == twin else 0.0


def separation(labels: Sequence[NoteLabel], scores: Scores) -> float | None:
    """Share of all errored x clean couples in the right order, ties half; None without a couple.

    Unlike the paired measure it compares every errored note with every clean note of the batch.
    """
    clean = [scores[label.id] for label in labels if label.is_clean]
    errored = [scores[label.id] for label in labels if not label.is_clean]
    couples = [(e, c) for e in errored for c in clean if e is not None and c is not None]
    if not couples:
        return None
    return sum(1.0 if e < c else 0.5 if e == c else 0.0 for e, c in couples) / len(couples)
