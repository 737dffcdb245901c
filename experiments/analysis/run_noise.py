"""What run-to-run noise does to the gate's level, with one run of each note and with several.

A run of a judge can move as a whole. The spread between consultations does not show it, so a gate
that sees one run ships more nulls than it says; from three runs on it can be allowed for.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtrit

from heldout.experiments.analysis.cluster_models import Assumed, Sizes
from heldout.gepa.statistics.intervals.interval import ClusterSums, t_ends
from heldout.gepa.statistics.intervals.run_to_run import FEWEST_RUNS, CrossedSums
from heldout.gepa.statistics.table import BoolArray

RUN_SD = 0.03
"""Standard deviation of one block's figure from run to run that a plan reckons with."""
CELL_SD = 0.3
"""Standard deviation of a pair's difference within its consultation from run to run."""
DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class RunNoiseLevels:
    """Shares of nulls that the t interval ships where each block moves by `run_sd` a run.

    `once`: with one run of each note; `allowed`: with `runs` of them and their spread allowed for.
    The Monte Carlo error is half a point at most.
    """

    run_sd: float
    runs: int
    once: float
    allowed: float


def moved_runs(
    fixed: ClusterSums, rng: np.random.Generator, *, runs: int, run_sd: float
) -> CrossedSums:
    """Replicates of data sets, each moved as a whole by `run_sd` and in every cell by `CELL_SD`."""
    weights = fixed.sizes[:, None, :]
    cells = CELL_SD * rng.normal(size=(len(weights), runs, weights.shape[-1])) * np.sqrt(weights)
    shifts = run_sd * rng.normal(size=(len(weights), runs, 1)) * weights
    return CrossedSums(fixed.sums[:, None, :] + cells + shifts, fixed.sizes)


def ships_plain(data: CrossedSums, alpha: float) -> BoolArray:
    """Which data sets ship by the t interval over consultations of their mean over runs."""
    mean = ClusterSums(data.sums.mean(axis=-2), data.sizes)
    return np.asarray(t_ends(mean, level=1 - 2 * alpha)[0] > 0, dtype=np.bool_)


def ships_allowed(data: CrossedSums, alpha: float) -> BoolArray:
    """Which ship by the interval that holds the spread between runs, of `FEWEST_RUNS` or more."""
    total, degrees = data.variance()
    return np.asarray(data.mean > stdtrit(degrees, 1 - alpha) * np.sqrt(total), dtype=np.bool_)


def run_noise_levels(
    sizes: Sizes, rng: np.random.Generator, *, alpha: float, runs: int = FEWEST_RUNS
) -> RunNoiseLevels:
    """Levels on held-out consultations with these numbers of pairs, under assumed differences."""
    held = np.tile(np.array(sizes, dtype=np.int64), (DRAWS, 1))
    moved = sqrt(2) * RUN_SD  # both blocks move, and their difference by both
    fixed = Assumed().draw(held, 0.0, rng)
    once = ships_plain(moved_runs(fixed, rng, runs=1, run_sd=moved), alpha)
    several = ships_allowed(moved_runs(fixed, rng, runs=runs, run_sd=moved), alpha)
    return RunNoiseLevels(RUN_SD, runs, float(once.mean()), float(several.mean()))
