"""Optimism of the accept set: how much a chosen winner overstates itself, from several sides.

The accept set chose the winner, so its figure there is too good. Choosing the best of N explains a
part that the bootstrap can estimate; the search also wrote its blocks with accept in the loop, and
only whole searches on a placebo show that part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from heldout.gepa.statistics.intervals.resampling import RESAMPLES, cluster_weights
from heldout.gepa.statistics.rates.paired import answered_pairs, half_points, paired
from heldout.gepa.statistics.selection import Selection, rows_of
from heldout.gepa.statistics.table import FloatArray, ScoreTable

ATOMS, STEPS = 61, 500
"""Values that a worth may take, and rounds of the fit of their shares."""
REJECTED = 3.84
"""Twice the logarithm of a likelihood ratio beyond which equal worths are rejected."""


@dataclass(frozen=True, slots=True)
class OptimismEstimate:
    """Mean overstatement with its standard error, and what it was made from."""

    value: float
    error: float
    made_from: str


def selection_optimism(
    candidates: Sequence[ScoreTable],
    rng: np.random.Generator,
    *,
    select: Selection = "omission",
    resamples: int = RESAMPLES,
) -> OptimismEstimate | None:
    """Optimism from having chosen the best of the candidates: a part of the whole.

    Consultations are resampled for what chance does to each candidate's figure. A bootstrap around
    the figures as they fell would take their chance for differences in worth, and find two thirds;
    so candidates are equally good, as `power` has them, unless their figures deny it (`_worths`).
    The best of worth plus chance is chosen in each resample (the earlier of equals): the mean of
    its chance is the overstatement. None without candidates or where one has no answered pair.
    Tables must be about the same notes.
    """
    if not candidates or any(paired(table, select).value is None for table in candidates):
        return None
    labels = candidates[0].labels
    points, sizes = _by_consultation([t.in_order_of(labels) for t in candidates], select)
    weights = cluster_weights(points.shape[1], resamples, rng)
    answered = sizes @ weights.T
    full = points.sum(axis=1) / (2 * sizes.sum(axis=1))
    # A resample of G consultations varies less than a new sample does, by (G - 1) / G.
    scale = sqrt(points.shape[1] / max(1, points.shape[1] - 1))
    known = (answered > 0).all(axis=0)
    figures = points @ weights.T[:, known] / (2 * answered[:, known])
    chance = scale * (figures - full[:, None])
    best = (_worths(full, chance)[:, None] + chance).argmax(axis=0)
    gaps = chance[best, np.arange(best.size)]
    if gaps.size < 2:
        return None
    return OptimismEstimate(
        float(gaps.mean()),
        float(gaps.std(ddof=1) / sqrt(gaps.size)),
        f"best of {len(candidates)}, {gaps.size} resamples of consultations",
    )


def _worths(figures: FloatArray, chance: FloatArray) -> FloatArray:
    """What each candidate is worth, shape (candidates,): the same unless the figures deny it.

    Chance is normal of the size that resamples show, what is common to all left out. Where equal
    worths are rejected (likelihood ratio, 5%), worths are posterior means by empirical Bayes, their
    law the nonparametric maximum likelihood (Kiefer and Wolfowitz 1956): one that stands apart
    keeps its own.
    """
    own = chance - chance.mean(axis=0)
    error = sqrt(float(own.var(axis=1).sum()) / max(1, len(figures) - 1))
    if not error:
        return figures
    equal = np.full(len(figures), figures.mean())
    atoms = np.linspace(figures.min(), figures.max(), ATOMS)
    density = np.exp(-(((figures[:, None] - atoms) / error) ** 2) / 2)
    law = np.full(ATOMS, 1 / ATOMS)
    for _ in range(STEPS):
        shares = density * law / (density @ law)[:, None]
        law = shares.mean(axis=0)
    gained = np.log(density @ law).sum() + (((figures - equal) / error) ** 2).sum() / 2
    return np.asarray(shares @ atoms) if 2 * gained > REJECTED else equal


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Accept and held-out figure of one search's winner, in [0, 1]."""

    accept: float
    heldout: float


def placebo_optimism(searches: Sequence[SearchOutcome | None]) -> OptimismEstimate | None:
    """Mean of accept minus held-out over whole searches on a placebo, where nothing can improve.

    Both figures must be of the same kind (each winner, or each winner minus its baseline); None
    stands for a search that a seed won, which overstates nothing and is counted apart. None with
    fewer than two others.
    """
    counted = [search for search in searches if search is not None]
    if len(counted) < 2:
        return None
    gaps = np.array([search.accept - search.heldout for search in counted])
    error = float(gaps.std(ddof=1) / sqrt(gaps.size))
    rest = len(searches) - gaps.size
    others = f" of {len(searches)}" if rest else ""
    why = f", a seed won {rest}" if rest else ""
    return OptimismEstimate(
        float(gaps.mean()), error, f"{gaps.size}{others} searches on placebo{why}"
    )


def _by_consultation(
    tables: Sequence[ScoreTable], select: Selection
) -> tuple[FloatArray, FloatArray]:
    """Half-points and answered pairs, each of shape (candidates, consultations)."""
    rows = rows_of(tables[0], select)
    groups = np.unique(tables[0].cluster[rows], return_inverse=True)[1]
    width = int(groups.max()) + 1
    answered = [answered_pairs(table)[rows] for table in tables]
    points = [
        np.bincount(groups, half_points(table)[rows] * kept, minlength=width)
        for table, kept in zip(tables, answered, strict=True)
    ]
    sizes = [np.bincount(groups, kept, minlength=width) for kept in answered]
    return np.asarray(points, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
