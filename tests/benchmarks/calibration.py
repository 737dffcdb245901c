"""How often does each gate rule ship when nothing changed? Printed with Monte Carlo errors.

Run with `python -m tests.benchmarks.calibration --seed 1 --campaign FILE.json --results FOLDER`,
the campaign file in the published layout. One-sided level 0.025 at 20, 47 and 112 consultations,
without the floor `gate:too_few`; the nulls are those of `tests.benchmarks.nulls`. Rules that need
no resampling see more data sets than the others. A row that stands in FOLDER
already is not simulated again, so a stopped run goes on.

`--realised` adds the power of simulated judges against what `power` predicts (minutes).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from tests.benchmarks.nulls import (
    Pool,
    exactly,
    exchanged,
    few_ties,
    flipped,
    left_skewed,
    lognormal,
    one_giant,
)
from tests.benchmarks.realised import Sizes, predictions, predictions_text
from tests.benchmarks.simulated_runs import PLAIN, Setting, made_benchmark, runs

from heldout.experiments.analysis.cluster_models import Assumed
from heldout.experiments.analysis.power import RULES, Estimate, share
from heldout.experiments.analysis.run_noise import (
    RUN_SD,
    moved_runs,
    ships_allowed,
    ships_plain,
)
from heldout.experiments.analysis.score_files import read_scores, score_tables
from heldout.gepa.gate.simulated_rules import ships
from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.table import ScoreTable
from heldout.students.models.chat import ChatModel
from heldout.students.simulated import JUDGE_ID, PLACEBO_ID, SimulatedJudge, SimulatedPlacebo

CONSULTATIONS = (20, 47, 112)
ALPHA = 0.025
DEFAULT: RuleName = "studentised"
CHEAP: frozenset[RuleName] = frozenset({"point", "interval"})
CHUNK = 10_000
"""Data sets held at once."""

Null = Callable[[int, int, np.random.Generator], ClusterSums]
"""Draws data sets of a number of consultations: consultations, draws, generator."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Data sets for rules that resample, and for those that do not, which are cheap."""

    resampled: int = 10_000
    cheap: int = 200_000

    def of(self, rule: RuleName) -> int:
        """Data sets that `rule` sees."""
        return max(self.cheap, self.resampled) if rule in CHEAP else self.resampled


@dataclass(frozen=True, slots=True)
class Row:
    """One null at one number of consultations: the share each rule ships, and the skewness."""

    null: str
    consultations: int
    shipped: Mapping[RuleName, Estimate]
    skewness: float

    def excess(self, rule: RuleName) -> float:
        """How far the share lies above the level, in Monte Carlo errors of its own."""
        found = self.shipped[rule]
        return (found.value - ALPHA) / found.error if found.error else -np.inf


def calibrate(
    name: str, null: Null, consultations: int, draws: Draws, rng: np.random.Generator
) -> Row:
    """What every rule ships of the data sets of one null."""
    counted, skewness = dict.fromkeys(RULES, 0), list[float]()
    most = max(map(draws.of, RULES))
    for start in range(0, most, CHUNK):
        size = min(CHUNK, most - start)
        data = null(consultations, size, rng)
        skewness.append(_skewness(data))
        for rule in RULES:
            kept = max(0, min(size, draws.of(rule) - start))
            if kept:
                part = ClusterSums(data.sums[:kept], data.sizes[:kept])
                counted[rule] += int(ships(part, rule, rng, alpha=ALPHA).sum())
    shipped = {rule: share(counted[rule] / draws.of(rule), draws.of(rule)) for rule in RULES}
    return Row(name, consultations, shipped, float(np.mean(skewness)))


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


def verdict_text(rows: Sequence[Row], rule: RuleName = DEFAULT) -> str:
    """Where the rule exceeds its level by more than three Monte Carlo errors, and by how much."""
    over = [
        f"{rule} exceeds {ALPHA}: {row.null}, {row.consultations}, by "
        f"{row.shipped[rule].value - ALPHA:+.4f} ({row.excess(rule):.1f} errors)"
        for row in rows
        if row.excess(rule) > 3
    ]
    return "\n".join(over) or f"{rule} holds {ALPHA} within three errors in every row"


def noise_text(draws: int, rng: np.random.Generator, *, replicates: int = 3) -> str:
    """What the t interval ships where whole runs move, without and with that component."""
    lines = [
        "| SD of a run, consultations | t interval | with run-to-run noise |",
        "|---|---|---|",
    ]
    for run_sd in (RUN_SD, RUN_SD * 2**0.5):
        for n in CONSULTATIONS:
            plain, allowed = noise_levels(n, draws, rng, replicates=replicates, run_sd=run_sd)
            lines.append(f"| {run_sd:.3f}, {n} | {_shown(plain)} | {_shown(allowed)} |")
    return "\n".join(lines)


def noise_levels(
    consultations: int, draws: int, rng: np.random.Generator, *, replicates: int, run_sd: float
) -> tuple[Estimate, Estimate]:
    """Share shipped by the plain t interval over consultations, and by the one with both parts."""
    counted = np.zeros(2)
    for start in range(0, draws, CHUNK):
        sizes = rng.integers(1, 5, size=(min(CHUNK, draws - start), consultations))
        fixed = Assumed().draw(sizes, 0.0, rng)
        data = moved_runs(fixed, rng, runs=replicates, run_sd=run_sd)
        counted += [ships_plain(data, ALPHA).sum(), ships_allowed(data, ALPHA).sum()]
    plain, allowed = counted / draws
    return share(float(plain), draws), share(float(allowed), draws)


def simulated_replicates(
    model: ChatModel, name: str, *, consultations: int, replicates: int, seed: int
) -> tuple[ScoreTable, ...]:
    """Runs of the plain block on made notes."""
    setting = Setting(model=model, name=name, seed=seed)
    return runs(PLAIN, made_benchmark(consultations, seed=seed), setting, replicates=replicates)


def nulls(campaign: Path | None, seed: int) -> dict[str, Null]:
    """Every null by the name of its rows; flipped signs need a campaign file."""
    found: dict[str, Null] = {}
    if campaign is not None:
        found["flipped signs"] = partial(flipped, Pool.of(campaign_tables(campaign)))
    for name, model in ((JUDGE_ID, SimulatedJudge()), (PLACEBO_ID, SimulatedPlacebo())):
        tables = simulated_replicates(model, name, consultations=240, replicates=6, seed=seed)
        found[f"replicates, {name} (simulated)"] = partial(exchanged, tables)
    return found | {
        "15% ties": few_ties,
        "exactly 4 differ": partial(exactly, 4),
        "exactly 8 differ": partial(exactly, 8),
        "one of 40 pairs": one_giant,
        "lognormal sizes": lognormal,
        "left skew": left_skewed,
    }


def campaign_tables(path: Path) -> list[ScoreTable]:
    """The tables of all candidates of a campaign file, over the same notes in one order."""
    pool = json.loads(path.read_text("utf-8"))["pool"]
    first, *others = (candidate["name"] for candidate in pool)
    base = read_scores(f"{path}#{first}")
    tables = [score_tables(read_scores(f"{path}#{name}"), base)[0] for name in others]
    labels = score_tables(base, base)[0].labels
    return [score_tables(base, base)[0], *(table.in_order_of(labels) for table in tables)]


def rows(found: Mapping[str, Null], draws: Draws, seed: int, folder: Path) -> Iterator[Row]:
    """Every null at every number of consultations; rows that `folder` holds are read from there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, null in found.items():
        for n in CONSULTATIONS:
            path = (
                folder
                / f"{name.replace('/', ' ')}, {n}, {draws.resampled}, {draws.cheap}, {seed}.json"
            )
            if not path.exists():
                rng = generator(seed, "calibration", name, n)
                path.write_text(json.dumps(asdict(calibrate(name, null, n, draws, rng))), "utf-8")
            kept = json.loads(path.read_text("utf-8"))
            shipped = {rule: Estimate(**value) for rule, value in kept["shipped"].items()}
            yield Row(name, n, shipped, kept["skewness"])


def _skewness(data: ClusterSums) -> float:
    """Skewness of the consultation residuals, pooled over data sets."""
    residual = data.sums - data.sums.mean(axis=-1, keepdims=True)
    spread = float((residual**2).mean())
    return float((residual**3).mean()) / spread**1.5 if spread else 0.0


def _shown(found: Estimate) -> str:
    return f"{found.value:.4f} ±{found.error:.4f}"


def main(arguments: Sequence[str]) -> int:
    """Print the calibration; see the module's text."""
    parser = argparse.ArgumentParser(prog="calibration")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--cheap", type=int, default=200_000)
    parser.add_argument("--campaign", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--realised", action="store_true")
    given = parser.parse_args(arguments)
    draws = Draws(given.draws, given.cheap)
    found = list(rows(nulls(given.campaign, given.seed), draws, given.seed, given.results))
    noise = noise_text(given.cheap, generator(given.seed, "calibration", "noise"))
    sys.stdout.write(f"{table_text(found)}\n\n{verdict_text(found)}\n\n{noise}\n")
    if given.realised:
        predicted = predictions(Sizes(draws=given.draws), CONSULTATIONS, seed=given.seed)
        sys.stdout.write(f"\n{predictions_text(predicted)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
