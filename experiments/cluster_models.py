"""Where simulated differences come from: a pilot's pairs, or a few stated assumptions.

Both draw pairs inside consultations, because the consultation is the unit that is resampled, tested
and paid for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from heldout.gepa.statistics.difference import Difference
from heldout.gepa.statistics.intervals import ClusterSums
from heldout.gepa.statistics.selection import Family
from heldout.gepa.statistics.table import FloatArray, IntArray
from heldout.splits.benchmark import Consultation, NoteLabel

Sizes = tuple[int, ...]
"""Pairs of the primary measure in each consultation that has one."""


def pair_counts(consultations: Iterable[Consultation], family: Family) -> Sizes:
    """Pairs of `family` by consultation; consultations without one drop out."""
    counts = (sum(_belongs(note.label, family) for note in c.errored) for c in consultations)
    return tuple(count for count in counts if count)


def _belongs(label: NoteLabel, family: Family) -> bool:
    if family == "omission":
        return label.note_class.is_omission
    return label.note_class.is_commission if family == "commission" else not label.is_clean


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
    """Pairs of pilot comparisons, shifted to the wanted difference.

    `values` are the pairs' differences, each comparison centred on its own mean; `icc` is how alike
    two pairs of one consultation were, at least 0. Resampling pairs inside small consultations
    instead would draw some twice and overstate how alike they are.
    """

    values: FloatArray
    icc: float
    consultations: int
    comparisons: int

    @classmethod
    def of(cls, comparisons: Iterable[Difference]) -> Pilot:
        """The pool of some comparisons. Raises ValueError without a pair."""
        used = [data for data in comparisons if data.n]
        if not used:
            raise ValueError("a pilot needs at least one pair")
        values = [data.values - data.values.mean() for data in used]
        groups = [
            row[data.cluster == c]
            for row, data in zip(values, used, strict=True)
            for c in np.unique(data.cluster)
        ]
        pooled = np.concatenate(values)
        return cls(pooled, _icc(groups, float((pooled**2).mean())), len(groups), len(used))

    @property
    def description(self) -> str:
        """See DifferenceModel."""
        return (
            f"pilot: {self.values.size} pairs in {self.consultations} consultations of "
            f"{self.comparisons} comparison(s), correlation {self.icc:.2f} inside a consultation, "
            "shifted to the wanted difference"
        )

    def draw(self, sizes: IntArray, effect: float, rng: np.random.Generator) -> ClusterSums:
        """See DifferenceModel."""
        shape = (*sizes.shape, int(sizes.max()))
        own = self.values[rng.integers(0, self.values.size, size=shape)]
        shared = self.values[rng.integers(0, self.values.size, size=(*sizes.shape, 1))]
        copies = rng.random(shape) < np.sqrt(self.icc)
        return _summed(np.where(copies, shared, own) + effect, sizes)


def _icc(groups: list[FloatArray], mean_square: float) -> float:
    """Mean product of two pairs of one consultation over the mean square, cut to [0, 1]."""
    products = sum(float(row.sum() ** 2 - (row**2).sum()) for row in groups)
    couples = sum(row.size * (row.size - 1) for row in groups)
    if not couples or mean_square == 0:
        return 0.0
    return min(1.0, max(0.0, products / couples / mean_square))


def resized(sizes: Sizes, consultations: int, draws: int, rng: np.random.Generator) -> IntArray:
    """Sizes of `draws` data sets of `consultations`, drawn from those of a partition."""
    return rng.choice(np.array(sizes, dtype=np.int64), size=(draws, consultations))


def _summed(values: FloatArray, sizes: IntArray) -> ClusterSums:
    present = np.arange(values.shape[-1]) < sizes[..., None]
    return ClusterSums((values * present).sum(axis=-1), sizes.astype(np.float64))
