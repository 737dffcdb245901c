"""How often does each gate rule ship when nothing changed? Printed with Monte Carlo errors.

Run with `python -m tests.benchmarks.calibration --seed 1`. The nulls, at 20, 47 and
112 consultations, one-sided level 0.025:

- flipped signs: differences between the candidates of a campaign file (`--campaign FILE.json`, in
  the published layout), each consultation's sign drawn at random;
- assumed: the model that `power` uses without a pilot, which is symmetric by itself;
- replicates: two runs of one and the same prompt by a simulated judge, and by the placebo;
- left skew: a mean of exactly zero made of many small gains and few large losses.

`--realised` adds the power of simulated judges against what `power` predicts (minutes).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from tests.benchmarks.alternatives import ALTERNATIVES
from tests.benchmarks.realised import Sizes, predictions, predictions_text
from tests.benchmarks.simulated_runs import PLAIN, Setting, made_benchmark, runs

from heldout.experiments.analysis.cluster_models import Assumed
from heldout.experiments.analysis.power import RULES, Estimate, share
from heldout.experiments.analysis.score_files import read_scores, score_tables
from heldout.gepa.gate.simulated_rules import ships
from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.table import FloatArray, ScoreTable
from heldout.students.models.chat import ChatModel
from heldout.students.simulated import JUDGE_ID, PLACEBO_ID, SimulatedJudge, SimulatedPlacebo

CONSULTATIONS = (20, 47, 112)
ALPHA = 0.025


@dataclass(frozen=True, slots=True)
class Row:
    """One null at one number of consultations: the share each rule ships."""

    null: str
    consultations: int
    draws: int
    shipped: dict[RuleName, Estimate]
    alternatives: dict[str, Estimate]
    skewness: float

    def holds(self, rule: RuleName) -> bool:
        """True if the share is at most the level plus two Monte Carlo standard errors."""
        return self.shipped[rule].value <= ALPHA + 2 * share(ALPHA, self.draws).error


def calibrate(null: str, data: ClusterSums, rng: np.random.Generator) -> Row:
    """What every rule ships of the data sets of one null."""
    shipped = {rule: _shipped(data, rule, rng) for rule in RULES}
    others = {
        name: share(float(rule(data, ALPHA).mean()), len(data.sums))
        for name, rule in ALTERNATIVES.items()
    }
    return Row(null, data.clusters, len(data.sums), shipped, others, _skewness(data))


@dataclass(frozen=True)
class Pool:
    """Consultation sums of many comparisons over the same consultations.

    `sums` has shape (comparisons, consultations), `sizes` (consultations,).
    """

    sums: FloatArray
    sizes: FloatArray

    @classmethod
    def of(cls, tables: Sequence[ScoreTable]) -> Pool:
        """Every pair of tables compared on omissions."""
        found = [difference(a, b).sums for a, b in combinations(tables, 2)]
        return cls(np.array([data.sums for data in found]), found[0].sizes)


def flipped(pool: Pool, consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
    """Data sets of resampled consultations of one comparison each, signs drawn at random."""
    which = rng.integers(0, len(pool.sums), size=(draws, 1))
    drawn = rng.integers(0, pool.sizes.size, size=(draws, consultations))
    signs = 1.0 - 2.0 * rng.integers(0, 2, size=drawn.shape)
    return ClusterSums(pool.sums[which, drawn] * signs, pool.sizes[drawn])


def assumed(consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
    """Data sets of 1 to 4 pairs a consultation from the assumed model, effect zero."""
    sizes = rng.integers(1, 5, size=(draws, consultations))
    return Assumed().draw(sizes, 0.0, rng)


def left_skewed(consultations: int, draws: int, rng: np.random.Generator) -> ClusterSums:
    """Mean zero, skewness -1.41 a consultation: 2 minus a gamma variable of shape 2, scaled.

    A consultation with 1 to 4 pairs moves as a whole, the hardest case for a cluster method.
    """
    sizes = rng.integers(1, 5, size=(draws, consultations)).astype(np.float64)
    return ClusterSums(0.1 * (2.0 - rng.gamma(2.0, 1.0, sizes.shape)) * sizes, sizes)


def exchanged(
    replicates: Sequence[ScoreTable], consultations: int, draws: int, rng: np.random.Generator
) -> ClusterSums:
    """Two runs of one prompt: in each consultation two different replicates in random order.

    Replicates of one note are exchangeable and consultations independent, so the mean is exactly
    zero whatever the prompt does. Consultations are drawn without replacement from those judged.
    """
    against = [difference(table, replicates[0]).sums for table in replicates]
    sums, sizes = np.array([data.sums for data in against]), against[0].sizes
    if consultations > sizes.size:
        raise ValueError(f"{consultations} consultations wanted, {sizes.size} were judged")
    drawn = rng.permuted(np.tile(np.arange(sizes.size), (draws, 1)), axis=1)[:, :consultations]
    first = rng.integers(0, len(sums), size=drawn.shape)
    second = (first + rng.integers(1, len(sums), size=drawn.shape)) % len(sums)
    return ClusterSums(sums[first, drawn] - sums[second, drawn], sizes[drawn])


def table_text(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, each share with its Monte Carlo standard error."""
    lines = [
        "| null, consultations | " + " | ".join(RULES) + " | skewness |",
        "|---|" + "---|" * (len(RULES) + 1),
    ]
    for row in rows:
        cells = [f"{row.shipped[r].value:.4f} ±{row.shipped[r].error:.4f}" for r in RULES]
        name = f"{row.null}, {row.consultations}"
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {row.skewness:+.2f} |")
    return "\n".join(lines)


def alternatives_text(rows: Sequence[Row]) -> str:
    """What the rules that were not taken would ship, beside the default."""
    lines = [
        "| null, consultations | interval | " + " | ".join(ALTERNATIVES) + " |",
        "|---|---|" + "---|" * len(ALTERNATIVES),
    ]
    for row in rows:
        cells = [f"{row.alternatives[name].value:.4f}" for name in ALTERNATIVES]
        default = f"{row.shipped['interval'].value:.4f}"
        lines.append(f"| {row.null}, {row.consultations} | {default} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdict_text(rows: Sequence[Row], rule: RuleName = "interval") -> str:
    """Where the rule holds its level within two Monte Carlo standard errors, and where not."""
    return "\n".join(
        f"{rule}, {row.null}, {row.consultations}: "
        + ("holds" if row.holds(rule) else f"exceeds by {row.shipped[rule].value - ALPHA:+.4f}")
        for row in rows
    )


def _shipped(data: ClusterSums, rule: RuleName, rng: np.random.Generator) -> Estimate:
    found = ships(data, rule, rng, alpha=ALPHA)
    return share(float(found.mean()), found.size)


def _skewness(data: ClusterSums) -> float:
    """Skewness of the consultation residuals, pooled over data sets."""
    residual = data.sums - data.sums.mean(axis=-1, keepdims=True)
    spread = float((residual**2).mean())
    return float((residual**3).mean()) / spread**1.5 if spread else 0.0


def simulated_replicates(
    model: ChatModel, name: str, *, consultations: int, replicates: int, seed: int
) -> tuple[ScoreTable, ...]:
    """Runs of the plain block on made notes."""
    setting = Setting(model=model, name=name, seed=seed)
    return runs(PLAIN, made_benchmark(consultations, seed=seed), setting, replicates=replicates)


def nulls(campaign: Path | None, draws: int, seed: int) -> Iterator[Row]:
    """Every null at every number of consultations."""
    pool = None if campaign is None else Pool.of(campaign_tables(campaign))
    repeated = {
        f"replicates, {name} (simulated)": simulated_replicates(
            model, name, consultations=240, replicates=6, seed=seed
        )
        for name, model in ((JUDGE_ID, SimulatedJudge()), (PLACEBO_ID, SimulatedPlacebo()))
    }
    for n in CONSULTATIONS:
        rng = generator(seed, "calibration", n)
        if pool is not None:
            yield calibrate("flipped signs", flipped(pool, n, draws, rng), rng)
        yield calibrate("assumed", assumed(n, draws, rng), rng)
        for name, tables in repeated.items():
            yield calibrate(name, exchanged(tables, n, draws, rng), rng)
        yield calibrate("left skew", left_skewed(n, draws, rng), rng)


def campaign_tables(path: Path) -> list[ScoreTable]:
    """The tables of all candidates of a campaign file, over the same notes in one order."""
    pool = json.loads(path.read_text("utf-8"))["pool"]
    first, *others = (candidate["name"] for candidate in pool)
    base = read_scores(f"{path}#{first}")
    tables = [score_tables(read_scores(f"{path}#{name}"), base)[0] for name in others]
    labels = score_tables(base, base)[0].labels
    return [score_tables(base, base)[0], *(table.in_order_of(labels) for table in tables)]


def main(arguments: Sequence[str]) -> int:
    """Print the calibration; see the module's text."""
    parser = argparse.ArgumentParser(prog="calibration")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--campaign", type=Path)
    parser.add_argument("--realised", action="store_true")
    given = parser.parse_args(arguments)
    rows = sorted(nulls(given.campaign, given.draws, given.seed), key=lambda row: row.null)
    sys.stdout.write(f"{given.draws} data sets a row, seed {given.seed}\n\n")
    sys.stdout.write(f"{table_text(rows)}\n\n{verdict_text(rows)}\n\n")
    sys.stdout.write(f"{alternatives_text(rows)}\n")
    if given.realised:
        found = predictions(Sizes(draws=given.draws), CONSULTATIONS, seed=given.seed)
        sys.stdout.write(f"\n{predictions_text(found)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
