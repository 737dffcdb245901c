"""How far a judge's scores merely follow note length.

An omission is shorter than its twin by construction, so a judge that counts words does well on
omissions without reading anything (`heldout.gepa.word_control` holds that judge).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heldout.gepa.statistics.table import FloatArray, IntArray, ScoreTable


@dataclass(frozen=True, slots=True)
class LengthFollowing:
    """Scores against words inside consultations.

    `correlation` is Pearson's over deviations from the consultation's means, in [-1, 1], None where
    scores or lengths do not vary; `n` notes in `consultations` with at least two scored notes.
    """

    correlation: float | None
    n: int
    consultations: int


def length_following(table: ScoreTable, words: Mapping[str, int]) -> LengthFollowing:
    """Within-consultation correlation of the scores with `words` (note id to word count)."""
    scored = ~table.missing & (np.bincount(table.cluster, ~table.missing)[table.cluster] > 1)
    lengths = np.array([words[label.id] for label in table.labels], dtype=np.float64)
    groups = np.unique(table.cluster[scored], return_inverse=True)[1]
    score, length = (_deviations(x[scored], groups) for x in (table.values, lengths))
    scale = float(np.sqrt((score**2).sum() * (length**2).sum()))
    # Deviations of equal values are rounding errors, not variation.
    varies = scale > 1e-9 * max(1.0, float(np.abs(lengths).max(initial=0)))
    correlation = float((score * length).sum()) / scale if varies else None
    return LengthFollowing(correlation, int(scored.sum()), int(np.unique(groups).size))


def _deviations(values: FloatArray, groups: IntArray) -> FloatArray:
    """Values minus the mean of their group."""
    means = np.bincount(groups, values) / np.maximum(np.bincount(groups), 1)
    return np.asarray(values - means[groups])
