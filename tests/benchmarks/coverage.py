"""Does the interval of one judge's paired figure cover what it should? Coverage by simulation.

Run with `python -m tests.benchmarks.coverage --seed 1` (a minute). Wins and losses of a true share,
alike inside a consultation by a beta law or by copies, in consultations of 1 to 4 pairs. A low miss
is an interval that lies wholly above the truth: the judge looks better than it is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np

from heldout.gepa.statistics.intervals.interval import cluster_wilson
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.table import FloatArray, IntArray

TRUTHS = (0.5, 0.75, 0.9, 0.95, 0.98)
CONSULTATIONS = (20, 47, 112)
ICC = (0.02, 0.1, 0.3)
LAWS = ("beta", "copies")


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of simulated intervals at level 0.95 that cover the truth, and that lie above it."""

    truth: float
    consultations: int
    icc: float
    law: str
    draws: int
    covers: float
    low_misses: float


def wins(
    truth: float, sizes: IntArray, icc: float, law: str, rng: np.random.Generator
) -> FloatArray:
    """Wins and losses of the pairs of consultations with `sizes`, correlated by `icc`."""
    if law == "beta":
        rest = (1 - icc) / icc
        own = rng.beta(truth * rest, (1 - truth) * rest, size=sizes.size)
        return (rng.random(int(sizes.sum())) < np.repeat(own, sizes)).astype(np.float64)
    alone = rng.random(int(sizes.sum())) < truth
    shared = np.repeat(rng.random(sizes.size) < truth, sizes)
    # A pair takes its consultation's value with probability sqrt(icc); two do with icc.
    return np.where(rng.random(alone.size) < sqrt(icc), shared, alone).astype(np.float64)


def coverage(
    truth: float, consultations: int, icc: float, law: str, *, draws: int, seed: int
) -> Coverage:
    """One cell of the table."""
    rng = generator(seed, "coverage", str(truth), consultations, str(icc), law)
    covered = above = 0
    for _ in range(draws):
        sizes = rng.integers(1, 5, size=consultations)
        values = wins(truth, sizes, icc, law, rng)
        found = cluster_wilson(values, np.repeat(np.arange(consultations), sizes))
        assert found is not None  # every consultation has a pair
        covered += found.low <= truth <= found.high
        above += found.low > truth
    return Coverage(truth, consultations, icc, law, draws, covered / draws, above / draws)


def table_text(cells: Sequence[Coverage]) -> str:
    """Lowest and highest coverage, and most low misses, over laws and correlations."""
    lines = [
        "| true share, consultations | coverage, lowest | highest | low misses, most |",
        "|---|---|---|---|",
    ]
    for truth, n in product(TRUTHS, CONSULTATIONS):
        row = [c for c in cells if (c.truth, c.consultations) == (truth, n)]
        covers, low = [c.covers for c in row], max(c.low_misses for c in row)
        lines.append(f"| {truth}, {n} | {min(covers):.3f} | {max(covers):.3f} | {low:.3f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the table; see the module's text."""
    parser = argparse.ArgumentParser(prog="coverage")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--draws", type=int, default=4_000)
    given = parser.parse_args(arguments)
    cells = [
        coverage(*cell, draws=given.draws, seed=given.seed)
        for cell in product(TRUTHS, CONSULTATIONS, ICC, LAWS)
    ]
    sys.stdout.write(f"{table_text(cells)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
