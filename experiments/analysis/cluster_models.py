"""Where simulated differences come from: a pilot's pairs, or a few stated assumptions.

Both draw pairs inside consultations, because the consultation is the unit that is resampled, tested
and paid for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from heldout.gepa.statistics.difference import Difference
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.selection import PairKind
from heldout.gepa.statistics.table import FloatArray, IntArray
from heldout.splits.benchmark import Consultation, NoteLabel
from heldout.splits.counted import counted

MOST_TILT = 40.0
"""A consultation that gains a full point is then e**40 times as likely as one that gains none."""

Sizes = tuple[int, ...]
"""Pairs of the primary measure in each consultation that has one."""


def pair_counts(consultations: Iterable[Consultation], kind: PairKind) -> Sizes:
    """Pairs of a kind by consultation; consultations without one drop out."""
    counts = (sum(_belongs(note.label, kind) for note in c.errored) for c in consultations)
    return tuple(count for count in counts if count)


def _belongs(label: NoteLabel, kind: PairKind) -> bool:
    if kind == "omission":
        return label.note_class.is_omission
    return label.note_class.is_commission if kind == "commission" else not label.is_clean


class DifferenceModel(Protocol):
    """Draws differences between two judges with a wanted true mean."""

    @property
    def description(self) -> str:
        """What the draws rest on, in one line."""

    def draw(self, sizes: IntArray, effect: float, rng: np.random.Generator) -> ClusterSums:
        """Data sets whose consultations have `sizes` (data sets, consultations) pairs."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """No pilot: how often two blocks disagree on a pair, by how much, and how alike pairs are.

    `discordant`: share of pairs that differ in win, tie or loss; `full`: share of those that go all
    the way from win to loss; `icc`: correlation of two pairs of one consultation. The defaults lie
    between a per-fact checker, whose blocks mostly agree, and a whole-note judge.
    """

    discordant: float = 0.4
    full: float = 0.2
    icc: float = 0.1

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie in [0, 1]")

    @property
    def description(self) -> str:
        """See DifferenceModel."""
        return (
            f"assumed: {self.discordant:.0%} of pairs differ, {self.full:.0%} of those fully, "
            f"correlation {self.icc:g} inside a consultation"
        )

    def draw(self, sizes: IntArray, effect: float, rng: np.random.Generator) -> ClusterSums:
        """See DifferenceModel. Raises ValueError for an effect outside [-1, 1]."""
        shape = (*sizes.shape, int(sizes.max()))
        own = self._values(shape, effect, rng)
        shared = self._values((*sizes.shape, 1), effect, rng)
        # A pair takes its consultation's value with probability sqrt(icc); two do with icc.
        copies = rng.random(shape) < np.sqrt(self.icc)
        return _summed(np.where(copies, shared, own), sizes)

    def _values(
        self, shape: tuple[int, ...], effect: float, rng: np.random.Generator
    ) -> FloatArray:
        """Values -1, -0.5, 0, 0.5 or 1 with mean `effect`; large effects need more discordance."""
        if not -1 <= effect <= 1:
            raise ValueError(f"a difference of {effect} does not exist")
        size = 0.5 * (1 - self.full) + self.full
        discordant = max(self.discordant, min(1.0, abs(effect) / size))
        full = self.full if abs(effect) <= size else 2 * abs(effect) - 1
        size = 0.5 * (1 - full) + full
        up = 0.5 + (effect / (2 * discordant * size) if discordant else 0.0)
        sign = np.where(rng.random(shape) < up, 1.0, -1.0)
        magnitude = np.where(rng.random(shape) < full, 1.0, 0.5)
        return np.asarray(np.where(rng.random(shape) < discordant, sign * magnitude, 0.0))


@dataclass(frozen=True)
class Pilot:
    """Pilot consultations, drawn again whole and tilted to the wanted mean.

    `values` (consultations, most pairs) is padded, `counts` (consultations,) says how far, `means`
    are those of each consultation, in ascending order. A consultation of n pairs is n pairs, drawn
    without replacement, of one pilot consultation with at least as many. Tilting weighs a pilot
    consultation with mean m by exp(k m): real gains make consultations with gains more frequent,
    while adding a constant would move every pair a little.
    """

    values: FloatArray
    counts: IntArray
    means: FloatArray
    comparisons: int

    @classmethod
    def of(cls, comparisons: Iterable[Difference]) -> Pilot:
        """The pool of some comparisons. Raises ValueError without a pair."""
        used = [data for data in comparisons if data.n]
        if not used:
            raise ValueError("a pilot needs at least one pair")
        rows = [data.values[data.cluster == c] for data in used for c in np.unique(data.cluster)]
        rows.sort(key=lambda row: float(row.mean()))
        counts = np.array([row.size for row in rows], dtype=np.int64)
        values = np.zeros((len(rows), int(counts.max())))
        for place, row in enumerate(rows):
            values[place, : row.size] = row
        return cls(values, counts, np.array([row.mean() for row in rows]), len(used))

    @property
    def description(self) -> str:
        """See DifferenceModel."""
        return (
            f"pilot: {int(self.counts.sum())} pairs in {self.counts.size} consultations of "
            f"{counted(self.comparisons, 'comparison')}, tilted to the wanted difference"
        )

    def draw(self, sizes: IntArray, effect: float, rng: np.random.Generator) -> ClusterSums:
        """See DifferenceModel. Consultations larger than any of the pilot are made of several."""
        tilt, shift = self._tilt(sizes, effect)
        sums = np.asarray(shift * sizes, dtype=np.float64)
        for part in self._parts(sizes):
            for n in np.unique(part[part > 0]):
                at = part == n
                sums[at] += self._sums(int(n), int(at.sum()), tilt, rng)
        return ClusterSums(sums, sizes.astype(np.float64))

    def _parts(self, sizes: IntArray) -> Iterator[IntArray]:
        """`sizes` as a sum of arrays with entries of at most the largest pilot consultation."""
        left, most = sizes, self.values.shape[1]
        while left.any():
            part = np.minimum(left, most)
            yield part
            left = left - part

    def _shares(self, n: int, tilt: float) -> FloatArray:
        """Chance of each pilot consultation to stand for one of `n` pairs."""
        exponent = tilt * self.means
        weights = np.where(self.counts >= n, self.counts * np.exp(exponent - exponent.max()), 0.0)
        return np.asarray(weights / weights.sum())

    def _sums(self, n: int, number: int, tilt: float, rng: np.random.Generator) -> FloatArray:
        """Sums of `n` pairs of `number` drawn consultations."""
        edges = np.cumsum(self._shares(n, tilt))[:-1]
        which = np.searchsorted(edges, rng.random(number), side="right")
        order = rng.random((number, self.values.shape[1]))
        order[np.arange(order.shape[1]) >= self.counts[which][:, None]] = 2.0  # padding goes last
        kept = np.argsort(order, axis=1)[:, :n]
        return np.asarray(np.take_along_axis(self.values[which], kept, axis=1).sum(axis=1))

    def _tilt(self, sizes: IntArray, effect: float) -> tuple[float, float]:
        """Tilt that gives `effect` on average; beyond the pilot's own range a shift instead."""
        low, high = -MOST_TILT, MOST_TILT
        if not self._mean(sizes, low) < effect < self._mean(sizes, high):
            return 0.0, effect - self._mean(sizes, 0.0)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._mean(sizes, middle) < effect else (low, middle)
        return (low + high) / 2, 0.0

    def _mean(self, sizes: IntArray, tilt: float) -> float:
        """Mean over pairs that draws with `tilt` have."""
        total = 0.0
        for part in self._parts(sizes):
            for n, times in zip(*np.unique(part[part > 0], return_counts=True), strict=True):
                total += float(n * times) * float(self._shares(int(n), tilt) @ self.means)
        return total / float(sizes.sum())


def resized(sizes: Sizes, consultations: int, draws: int, rng: np.random.Generator) -> IntArray:
    """Sizes of `draws` data sets of `consultations`, drawn from those of a partition."""
    return rng.choice(np.array(sizes, dtype=np.int64), size=(draws, consultations))


def _summed(values: FloatArray, sizes: IntArray) -> ClusterSums:
    present = np.arange(values.shape[-1]) < sizes[..., None]
    return ClusterSums((values * present).sum(axis=-1), sizes.astype(np.float64))
