"""What does it bring to judge the baseline several times and keep the lowest figure? Simulated.

Null data sets: winner and baseline are one and the same judge, whose paired figure has a run-to-run
spread and one by consultation. The shopper judges the baseline under several seeds before the
search and keeps the lowest. `before` compares the winner with that one, `concurrent` with a
judging of its own made beside the winner. One-sided level 0.025, default rule.

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


def main() -> None:
    """Print a row a number of seeds."""
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


if __name__ == "__main__":
    main()
