"""Does `power` predict what happens? Two simulated judges, one better by a known amount.

A large made benchmark is judged under both blocks and taken for the population: its mean difference
is the true one. Held-out sets are drawn from it and put before the gate's default rule; `power`
predicts the share that ships from a pilot on other made notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tests.benchmarks.simulated_runs import (
    INVENTORY,
    PLAIN,
    Setting,
    made_benchmark,
    runs,
)

from heldout.experiments.analysis.cluster_models import Pilot, resized
from heldout.experiments.analysis.power import Estimate, PowerSettings, Simulator
from heldout.gepa.gate.decide import GateSettings
from heldout.gepa.gate.simulated_rules import ships
from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.difference import Difference, difference
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.students.simulated import JUDGE_ID, SimulatedJudge

ALPHA = 0.025
BUDGETS = (600, 750, 900, 1_050)
"""Token budgets: the fuller, the more the inventory finds, so the larger the true difference."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One true difference at one number of consultations: predicted and realised power.

    Errors are mostly not Monte Carlo: a pilot and a population of other made notes would have had
    another spread.
    """

    budget: int
    effect: float
    consultations: int
    predicted: Estimate
    realised: Estimate

    @property
    def gap_in_errors(self) -> float:
        """Realised minus predicted in standard errors of both."""
        error = (self.predicted.error**2 + self.realised.error**2) ** 0.5
        return (self.realised.value - self.predicted.value) / error if error else 0.0


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is judged and drawn.

    `again`: how often consultations are drawn anew (with a tenth of the draws), to see what sets of
    this size leave open.
    """

    population: int = 800
    pilot: int = 800
    replicates: int = 1
    draws: int = 10_000
    again: int = 25
    budgets: tuple[int, ...] = BUDGETS


def predictions(
    sizes: Sizes, consultations: Sequence[int], *, seed: int, rule: RuleName = "interval"
) -> list[Prediction]:
    """Every budget at every number of consultations."""
    found = []
    for budget in sizes.budgets:
        population = _comparisons(sizes.population, sizes.replicates, budget, seed=seed)
        pilot = _comparisons(sizes.pilot, sizes.replicates, budget, seed=seed + 1)
        for n in consultations:
            case = _Case(n, rule, generator(seed, "realised", budget, n))
            powers = _predict(population, pilot, case, sizes)
            found.append(Prediction(budget, _true(population), n, *powers))
    return found


def _comparisons(
    consultations: int, replicates: int, budget: int, *, seed: int
) -> list[Difference]:
    """The inventory block against the plain one, replicate by replicate."""
    benchmark = made_benchmark(consultations, seed=seed)
    setting = Setting(model=SimulatedJudge(), name=JUDGE_ID, seed=seed, max_tokens=budget)
    ours, theirs = (
        runs(block, benchmark, setting, replicates=replicates) for block in (INVENTORY, PLAIN)
    )
    return [difference(a, b) for a, b in zip(ours, theirs, strict=True)]


@dataclass(frozen=True)
class _Case:
    """One number of consultations, judged by one rule."""

    consultations: int
    rule: RuleName
    rng: np.random.Generator

    def realised(self, comparisons: Sequence[Difference], effect: float, draws: int) -> float:
        """Share shipped of held-out sets drawn from the judged consultations.

        Consultations drawn anew are moved back to `effect`: their spread is what is in question.
        """
        pairs = comparisons[0].sums.sizes
        moved = effect - _true(comparisons)
        sums = np.array([data.sums.sums for data in comparisons]) + moved * pairs
        drawn = self.rng.integers(0, pairs.size, size=(draws, self.consultations))
        which = self.rng.integers(0, len(sums), size=(draws, 1))
        data = ClusterSums(sums[which, drawn], pairs[drawn])
        return float(ships(data, self.rule, self.rng, alpha=ALPHA).mean())

    def predicted(self, comparisons: Sequence[Difference], effect: float, draws: int) -> float:
        """What `power` says with the comparisons as pilot."""
        structure = tuple(int(size) for size in comparisons[0].sums.sizes)
        simulator = Simulator(
            Pilot.of(comparisons),
            structure,
            structure,
            GateSettings(alpha=ALPHA),
            PowerSettings(seed=int(self.rng.integers(2**31)), draws=draws),
        )
        sizes = resized(structure, self.consultations, draws, self.rng)
        return simulator.shipped(self.rule, effect, sizes).value


def _predict(
    population: Sequence[Difference], pilot: Sequence[Difference], case: _Case, sizes: Sizes
) -> tuple[Estimate, Estimate]:
    """Predicted and realised power, each with the error that its own notes leave."""
    effect = _true(population)
    again = [
        (
            case.predicted(_redrawn(pilot, case.rng), effect, sizes.draws // 10),
            case.realised(_redrawn(population, case.rng), effect, sizes.draws // 10),
        )
        for _ in range(sizes.again)
    ]
    errors = np.std(again, axis=0, ddof=1)
    return (
        Estimate(case.predicted(pilot, effect, sizes.draws), float(errors[0])),
        Estimate(case.realised(population, effect, sizes.draws), float(errors[1])),
    )


def _true(population: Sequence[Difference]) -> float:
    return float(np.mean([data.values.mean() for data in population]))


def _redrawn(comparisons: Sequence[Difference], rng: np.random.Generator) -> list[Difference]:
    """The comparisons on consultations drawn again, the same ones for all."""
    names = np.unique(comparisons[0].cluster)
    drawn = rng.choice(names, size=names.size)
    rows = [np.flatnonzero(comparisons[0].cluster == name) for name in drawn]
    cluster = np.repeat(np.arange(names.size), [row.size for row in rows])
    kept = np.concatenate(rows)
    return [
        replace(
            data,
            ids=tuple(f"{number}|{data.ids[row]}" for number, row in enumerate(kept)),
            candidate=data.candidate[kept],
            baseline=data.baseline[kept],
            cluster=cluster,
            joint=data.joint[kept],
        )
        for data in comparisons
    ]


def predictions_text(found: Sequence[Prediction]) -> str:
    """The predictions as a Markdown table."""
    lines = [
        "| true difference (simulated) | consultations | predicted | realised | gap, errors |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {p.effect:+.3f} | {p.consultations} | {p.predicted.value:.3f} ±{p.predicted.error:.3f} "
        f"| {p.realised.value:.3f} ±{p.realised.error:.3f} | {p.gap_in_errors:+.1f} |"
        for p in found
    ]
    return "\n".join(lines)
