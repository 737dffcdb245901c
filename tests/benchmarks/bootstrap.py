"""How fast is the bootstrap of a paired difference, beside a plain loop, and how much it holds.

Run with `python -m tests.benchmarks.bootstrap`. The size is that of the largest
published benchmark: 495 pairs in 112 consultations, 10,000 resamples.
"""

from __future__ import annotations

import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from heldout.gepa.statistics.difference import Difference
from heldout.gepa.statistics.intervals.resampling import RESAMPLES, bootstrap_means, generator

PAIRS, CONSULTATIONS = 495, 112
TARGET_MS = 60.0
LARGE_PAIRS, LARGE_CONSULTATIONS = 20_000, 4_500
TARGET_MB = 200.0


@dataclass(frozen=True, slots=True)
class Timing:
    """One way of doing it: best and median of `runs`, milliseconds."""

    name: str
    best_ms: float
    median_ms: float
    runs: int


@dataclass(frozen=True, slots=True)
class Result:
    """Both timings over the same data, their agreement, and the peak memory of a large case."""

    vectorised: Timing
    loop: Timing
    mean_gap: float
    peak_mb: float

    @property
    def ratio(self) -> float:
        """How many times faster the vectorised form is, by medians."""
        return self.loop.median_ms / self.vectorised.median_ms


def made_difference(pairs: int, consultations: int, *, seed: int) -> Difference:
    """A difference of the wanted size with made half-point credits, pairs dealt at random."""
    rng = np.random.default_rng(seed)
    spare = rng.integers(0, consultations, pairs - consultations)
    cluster = np.sort(np.concatenate([np.arange(consultations), spare]))
    credits = rng.integers(0, 3, (2, pairs))
    return Difference(
        ids=tuple(map(str, range(pairs))),
        candidate=credits[0],
        baseline=credits[1],
        candidate_scale=2,
        baseline_scale=2,
        cluster=cluster,
        joint=np.ones(pairs, dtype=np.bool_),
    )


def plain_loop(data: Difference, rng: random.Random, resamples: int) -> list[float]:
    """The same resampling of consultations without arrays."""
    groups: dict[int, list[float]] = {}
    for value, cluster in zip(data.values.tolist(), data.cluster.tolist(), strict=True):
        groups.setdefault(cluster, []).append(value)
    names = list(groups)
    means = []
    for _ in range(resamples):
        total, count = 0.0, 0
        for name in rng.choices(names, k=len(names)):
            values = groups[name]
            total += sum(values)
            count += len(values)
        means.append(total / count)
    return means


def measure(*, runs: int = 15, loop_runs: int = 1, resamples: int = RESAMPLES) -> Result:
    """Time both forms and measure the memory of 20,000 pairs."""
    data = made_difference(PAIRS, CONSULTATIONS, seed=1)
    draws = bootstrap_means(data.sums, generator("benchmark"), resamples=resamples)
    looped = plain_loop(data, random.Random(1), resamples)
    return Result(
        vectorised=_timed(
            "index gather over consultations",
            lambda: bootstrap_means(data.sums, generator("benchmark"), resamples=resamples),
            runs,
        ),
        loop=_timed("plain loop", lambda: plain_loop(data, random.Random(1), resamples), loop_runs),
        mean_gap=abs(float(draws.mean()) - sum(looped) / len(looped)),
        peak_mb=_peak_mb(resamples),
    )


def main() -> int:
    """Print the figures; status 1 when a target is missed."""
    result = measure()
    sys.stdout.write(
        f"{RESAMPLES} resamples, {PAIRS} pairs, {CONSULTATIONS} consultations, one process\n"
    )
    for timing in (result.vectorised, result.loop):
        sys.stdout.write(
            f"{timing.name:34} median {timing.median_ms:8.1f} ms, best {timing.best_ms:8.1f} ms "
            f"({timing.runs} runs)\n"
        )
    sys.stdout.write(f"{result.ratio:.0f} times faster; means differ by {result.mean_gap:.5f}\n")
    sys.stdout.write(f"peak memory at {LARGE_PAIRS} pairs: {result.peak_mb:.0f} MB\n")
    met = result.vectorised.median_ms <= TARGET_MS and result.peak_mb <= TARGET_MB
    sys.stdout.write(
        f"target {TARGET_MS:g} ms and {TARGET_MB:g} MB: {'met' if met else 'missed'}\n"
    )
    return 0 if met else 1


def _timed(name: str, work: Callable[[], object], runs: int) -> Timing:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(1_000 * (time.perf_counter() - start))
    return Timing(name, min(times), float(np.median(times)), runs)


def _peak_mb(resamples: int) -> float:
    data = made_difference(LARGE_PAIRS, LARGE_CONSULTATIONS, seed=2)
    tracemalloc.start()
    try:
        bootstrap_means(data.sums, generator("memory"), resamples=resamples)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    sys.exit(main())
