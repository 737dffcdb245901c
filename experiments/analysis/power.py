"""What a campaign can detect, before it is paid for: by simulation on its own partition.

Each figure is a share of simulated data sets and carries its Monte Carlo error. Held-out data sets
have the consultations of the held-out split with their numbers of pairs; differences come from a
pilot or from stated assumptions (`cluster_models`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from heldout.experiments.analysis.cluster_models import DifferenceModel, Sizes, resized
from heldout.gepa.gate.decide import STUDY_PRE_GATE, GateSettings
from heldout.gepa.gate.settings import PreGateName
from heldout.gepa.gate.simulated_rules import SIMULATED, ships
from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.table import FloatArray, IntArray

RULES: tuple[RuleName, ...] = tuple(SIMULATED)
EFFECTS = (0.02, 0.05, 0.08, 0.12)
TARGET = 0.8
RESAMPLES = 1_000
MOST_CONSULTATIONS = 4_096


@dataclass(frozen=True, kw_only=True)
class PowerSettings:
    """What is asked. `seed` has no default on purpose; `draws` data sets a figure.

    `wanted` is the difference whose number of consultations is asked for; `candidates` is how many
    candidates the search is expected to score on accept.
    """

    seed: int
    draws: int = 2_000
    effects: tuple[float, ...] = EFFECTS
    wanted: float = 0.05
    candidates: int = 10
    planned_looks: int = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A simulated figure with its Monte Carlo standard error."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class PowerAt:
    """Share of data sets shipped at one true difference, with its Monte Carlo error."""

    difference: float
    value: float
    error: float


@dataclass(frozen=True, slots=True)
class RulePower:
    """One rule: the share shipped at each effect, and the smallest effect shipped at `TARGET`.

    `smallest_detectable` is None where even a difference of one half is not seen that often.
    """

    when_nothing_changed: Estimate
    power: tuple[PowerAt, ...]
    smallest_detectable: Estimate | None


@dataclass(frozen=True, slots=True)
class BothStages:
    """A true difference through both stages: the look is bought, the rule ships, both."""

    difference: float
    pre_gate: Estimate
    gate: Estimate
    both: Estimate


@dataclass(frozen=True, slots=True)
class SplitPairs:
    """Pairs of the primary measure in a split, and consultations that have one."""

    consultations: int
    pairs: int

    @classmethod
    def of(cls, sizes: Sizes) -> SplitPairs:
        """Those of the pairs in each consultation."""
        return cls(len(sizes), sum(sizes))


@dataclass(frozen=True, slots=True)
class PlannedGate:
    """The gate that is simulated; `alpha` is one-sided and shared by the planned looks."""

    rule: RuleName
    alpha: float
    margin: float
    pre_gate: PreGateName
    planned_looks: int


@dataclass(frozen=True, slots=True)
class ChoiceOptimism:
    """How much the best of `candidates` equally good ones overstates itself on accept."""

    candidates: int
    value: float
    error: float


@dataclass(frozen=True, slots=True)
class NeededData:
    """Held-out consultations that ship `difference` with `TARGET`.

    None where `MOST_CONSULTATIONS` do not suffice.
    """

    difference: float
    consultations: int | None


@dataclass(frozen=True, kw_only=True)
class PowerReport:
    """Everything `heldout power` finds; `--json` prints these fields."""

    seed: int
    draws: int
    model: str
    accept: SplitPairs
    heldout: SplitPairs
    gate: PlannedGate
    rules: Mapping[RuleName, RulePower]
    stages: tuple[BothStages, ...]
    selection_optimism: ChoiceOptimism
    needed: NeededData


@dataclass(frozen=True)
class Simulator:
    """Simulated data sets of one partition, reproducible by seed.

    The same random numbers serve every effect, so that power rises smoothly with the effect.
    """

    model: DifferenceModel
    accept: Sizes
    heldout: Sizes
    gate: GateSettings
    settings: PowerSettings

    def __post_init__(self) -> None:
        for name, sizes in (("accept", self.accept), ("held-out", self.heldout)):
            if len(sizes) < 2:
                raise ValueError(f"the {name} set needs pairs in at least two consultations")

    @property
    def rule(self) -> RuleName:
        """The gate's rule; the interval rule in place of one's own, which may be slow to ask."""
        return self.gate.rule if self.gate.rule in RULES else "studentised"

    @property
    def description(self) -> str:
        """What the figures rest on."""
        if self.rule == self.gate.rule:
            return self.model.description
        return (
            f"{self.model.description}; {self.gate.rule} is not simulated, the figures are of "
            f"the {self.rule} rule"
        )

    @property
    def alpha(self) -> float:
        """One-sided level of one look."""
        return self.gate.alpha / self.settings.planned_looks

    @cached_property
    def heldout_sizes(self) -> IntArray:
        """The held-out structure, once a data set."""
        return np.tile(np.array(self.heldout, dtype=np.int64), (self.settings.draws, 1))

    @cached_property
    def accept_sizes(self) -> IntArray:
        """The accept structure, once a data set."""
        return np.tile(np.array(self.accept, dtype=np.int64), (self.settings.draws, 1))

    def shipped(self, rule: RuleName, effect: float, sizes: IntArray | None = None) -> Estimate:
        """Share of held-out data sets that `rule` ships at a true `effect`."""
        chosen = self.heldout_sizes if sizes is None else sizes
        data = self.model.draw(chosen, effect, self._rng("held-out", chosen.shape[1]))
        found = ships(
            data,
            rule,
            self._rng("rule", rule),
            alpha=self.alpha,
            margin=self.gate.margin,
            resamples=RESAMPLES,
        )
        return share(float(found.mean()), found.size)

    def bought(self, effect: float) -> Estimate:
        """Share of accept data sets on which the pre-gate buys the look.

        For the study's pre-gate only its paired half is simulated, so this is an upper bound.
        """
        if self.gate.pre_gate == "off":
            return Estimate(1.0, 0.0)
        least = STUDY_PRE_GATE if self.gate.pre_gate == "study" else 0.0
        data = self.model.draw(self.accept_sizes, effect, self._rng("accept"))
        return share(float((data.mean > least).mean()), self.settings.draws)

    def smallest(self, rule: RuleName) -> Estimate | None:
        """The smallest effect that `rule` ships with probability `TARGET`."""
        low, high = max(0.0, self.gate.margin), 0.5
        if self.shipped(rule, high).value < TARGET:
            return None
        for _ in range(9):
            middle = (low + high) / 2
            enough = self.shipped(rule, middle).value >= TARGET
            low, high = (low, middle) if enough else (middle, high)
        return Estimate(high, self._effect_error(rule, high))

    def needed(self, rule: RuleName, effect: float) -> int | None:
        """Held-out consultations with which `rule` ships `effect` with probability `TARGET`."""
        if effect <= self.gate.margin:
            return None
        high = 4
        while self._power_with(rule, effect, high) < TARGET:
            high *= 2
            if high > MOST_CONSULTATIONS:
                return None
        low = high // 2
        while high - low > max(1, high // 32):  # finer steps would lie below the Monte Carlo error
            middle = (low + high) // 2
            enough = self._power_with(rule, effect, middle) >= TARGET
            low, high = (low, middle) if enough else (middle, high)
        return high

    def selection(self, candidates: int) -> Estimate:
        """By how much the best of equally good candidates overstates itself on accept.

        A difference of two judges has the noise of both; one judge's own share is its half, so
        the draws are divided by the square root of two.
        """
        own = [
            self.model.draw(self.accept_sizes, 0.0, self._rng("candidate", number)).mean / sqrt(2)
            for number in range(candidates)
        ]
        best: FloatArray = np.max(own, axis=0)
        return Estimate(float(best.mean()), float(best.std(ddof=1) / sqrt(best.size)))

    def _power_with(self, rule: RuleName, effect: float, consultations: int) -> float:
        rng = self._rng("sizes", consultations)
        sizes = resized(self.heldout, consultations, self.settings.draws, rng)
        return self.shipped(rule, effect, sizes).value

    def _effect_error(self, rule: RuleName, effect: float) -> float:
        """Monte Carlo error of a power, carried over to the effect by the local slope."""
        step = max(0.005, effect / 8)
        high, low = (self.shipped(rule, effect + s) for s in (step, -step))
        slope = max((high.value - low.value) / (2 * step), 1e-6)
        return sqrt(TARGET * (1 - TARGET) / self.settings.draws) / slope

    def _rng(self, *path: str | int) -> np.random.Generator:
        return generator(self.settings.seed, "power", *path)


def power(
    model: DifferenceModel,
    *,
    accept: Sizes,
    heldout: Sizes,
    gate: GateSettings,
    settings: PowerSettings,
    rules: Sequence[RuleName] = RULES,
) -> PowerReport:
    """The full report. Raises ValueError where a split has pairs in under two consultations."""
    simulator = Simulator(model, accept, heldout, gate, settings)
    chosen = simulator.selection(settings.candidates)
    return PowerReport(
        seed=settings.seed,
        draws=settings.draws,
        model=simulator.description,
        accept=SplitPairs.of(accept),
        heldout=SplitPairs.of(heldout),
        gate=PlannedGate(
            simulator.rule, gate.alpha, gate.margin, gate.pre_gate, settings.planned_looks
        ),
        rules={rule: _rule(simulator, rule, settings.effects) for rule in rules},
        stages=tuple(_stages(simulator, effect) for effect in settings.effects),
        selection_optimism=ChoiceOptimism(settings.candidates, chosen.value, chosen.error),
        needed=NeededData(settings.wanted, simulator.needed(simulator.rule, settings.wanted)),
    )


def share(value: float, draws: int) -> Estimate:
    """A share of `draws` with its binomial Monte Carlo error."""
    return Estimate(value, sqrt(value * (1 - value) / draws))


def _rule(simulator: Simulator, rule: RuleName, effects: Sequence[float]) -> RulePower:
    shipped = {effect: simulator.shipped(rule, effect) for effect in (0.0, *effects)}
    return RulePower(
        shipped[0.0],
        tuple(PowerAt(effect, shipped[effect].value, shipped[effect].error) for effect in effects),
        simulator.smallest(rule),
    )


def _stages(simulator: Simulator, effect: float) -> BothStages:
    bought, shipped = simulator.bought(effect), simulator.shipped(simulator.rule, effect)
    # Accept and held-out share no consultation: the two stages are independent.
    error = sqrt((bought.error * shipped.value) ** 2 + (shipped.error * bought.value) ** 2)
    return BothStages(effect, bought, shipped, Estimate(bought.value * shipped.value, error))
