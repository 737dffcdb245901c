"""What does it bring to shop for a baseline, or for a partition of the same notes? Simulated.

Null data sets: winner and baseline are one and the same judge, whose paired figure has a run-to-run
spread and one by consultation. The shopper judges the baseline under several seeds before the
search and keeps the lowest. `before` compares the winner with that one, `concurrent` with a
judging of its own made beside the winner. One-sided level 0.025, default rule. Then the same
differences are split again and again, until a partition ships: without the registry of looks each
counts as a first look, with it the first alone.

    python -m tests.benchmarks.shopping
"""

from __future__ import annotations

import argparse

import numpy as np

from heldout.experiments.analysis.power import share
from heldout.gepa.gate.simulated_rules import ships
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.table import FloatArray

ALPHA = 0.025
CONSULTATIONS = 47
PAIRS = 3
RIGHT = 0.75
"""Chance that a judging orders a pair rightly; judgings of one pair are independent."""


def judged(draws: int, rng: np.random.Generator) -> FloatArray:
    """Paired credit by consultation of one judging, shape (draws, consultations)."""
    return rng.binomial(PAIRS, RIGHT, size=(draws, CONSULTATIONS)).astype(np.float64)


def level(seeds: int, draws: int, *, concurrent: bool, seed: int) -> float:
    """Share of null data sets shipped to a shopper with `seeds` judgings of the baseline."""
    rng = generator(seed, "shopping", seeds, str(concurrent))
    tried = np.stack([judged(draws, rng) for _ in range(seeds)])
    lowest = tried.sum(axis=-1).argmin(axis=0)
    kept = tried[lowest, np.arange(draws)]
    winner = judged(draws, rng)
    baseline = judged(draws, rng) if concurrent else kept
    data = ClusterSums(winner - baseline, np.full((draws, CONSULTATIONS), float(PAIRS)))
    return float(ships(data, "studentised", rng, alpha=ALPHA).mean())


def resplit(splits: int, draws: int, *, registered: bool, seed: int) -> float:
    """Share of null sets from which one of several partitions ships a winner.

    Each split holds out half of the same consultations. Registered looks allow the first alone.
    """
    rng = generator(seed, "resplit", splits, str(registered))
    gaps = judged(draws, rng) - judged(draws, rng)
    shipped = np.zeros(draws, dtype=bool)
    half = CONSULTATIONS // 2
    for _ in range(1 if registered else splits):
        held = rng.permuted(np.tile(np.arange(CONSULTATIONS), (draws, 1)), axis=1)[:, :half]
        sums = np.take_along_axis(gaps, held, axis=1)
        data = ClusterSums(sums, np.full(sums.shape, float(PAIRS)))
        shipped |= ships(data, "studentised", rng, alpha=ALPHA)
    return float(shipped.mean())


def main() -> None:
    """Print a row a number of seeds, and a row a number of partitions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("judgings of the baseline | `before` | `concurrent` (simulated)")
    for seeds in (1, 2, 6):
        found = [
            share(level(seeds, given.draws, concurrent=way, seed=given.seed), given.draws)
            for way in (False, True)
        ]
        print(f"{seeds} | " + " | ".join(f"{f.value:.4f} ±{f.error:.4f}" for f in found))
    print("partitions of the same notes | each looked at | the first alone (simulated)")
    for splits in (1, 10):
        found = [
            share(resplit(splits, given.draws, registered=way, seed=given.seed), given.draws)
            for way in (False, True)
        ]
        print(f"{splits} | " + " | ".join(f"{f.value:.4f} ±{f.error:.4f}" for f in found))


if __name__ == "__main__":
    main()
