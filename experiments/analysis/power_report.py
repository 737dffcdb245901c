"""Power in words, and the short form that a dry run prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heldout.experiments.analysis.power import (
    MOST_CONSULTATIONS,
    TARGET,
    ChoiceOptimism,
    Estimate,
    PowerAt,
    PowerReport,
    Simulator,
)
from heldout.gepa.statistics.intervals.interval import ClusterSums


def render_power(report: PowerReport) -> RenderableType:
    """The report for a rich console."""
    effects = [f"+{stage.difference:.2f}" for stage in report.stages]
    rules = Table(
        title=f"power at {report.heldout.consultations} held-out consultations",
        title_justify="left",
    )
    for name in ("rule", "nothing changed", *effects, "80% power from"):
        rules.add_column(name, justify="left" if name == "rule" else "right")
    for rule, found in report.rules.items():
        least = found.smallest_detectable
        smallest = "over +0.50" if least is None else f"+{_shown(least)}"
        cells = [_shown(at) for at in found.power]
        rules.add_row(rule, _shown(found.when_nothing_changed), *cells, smallest)
    stages = Table(
        title=f"pre-gate {report.gate.pre_gate} and gate {report.gate.rule} together",
        title_justify="left",
    )
    for name in ("true difference", "look bought", "gate ships", "both"):
        stages.add_column(name, justify="right")
    for effect, stage in zip(effects, report.stages, strict=True):
        stages.add_row(effect, *map(_shown, (stage.pre_gate, stage.gate, stage.both)))
    return Group(rules, stages, Text("\n".join(_sentences(report))))


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the two sets of a planned run can resolve, against what its config hopes for.

    `warnings` holds a line for each set that cannot resolve the hoped gain.
    """

    hoped_gain: float
    smallest_detectable: Estimate | None
    power_at_hoped: Estimate
    pre_gate_at_hoped: Estimate
    selection_optimism: Estimate
    model: str
    warnings: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Three lines for the dry run; the warnings are apart."""
        found = self.smallest_detectable
        least = "more than 0.500" if found is None else f"{_shown(found)}"
        return (
            f"power ({self.model}):",
            f"  smallest difference with 80% power {least}; "
            f"{self.hoped_gain:.3f} is shipped in {_shown(self.power_at_hoped)}, "
            f"its look bought in {_shown(self.pre_gate_at_hoped)}",
            f"  the best candidate on accept overstates itself by "
            f"{_shown(self.selection_optimism)} from having been chosen",
        )


def resolution(simulator: Simulator) -> Resolution:
    """The short form for `run --dry-run`: only the gate's own rule, only the hoped gain."""
    gate = simulator.gate
    found = Resolution(
        hoped_gain=gate.hoped_gain,
        smallest_detectable=simulator.smallest(simulator.rule),
        power_at_hoped=simulator.shipped(simulator.rule, gate.hoped_gain),
        pre_gate_at_hoped=simulator.bought(gate.hoped_gain),
        selection_optimism=simulator.selection(simulator.settings.candidates),
        model=simulator.description,
    )
    return replace(found, warnings=(*_too_few(simulator), *_warnings(found)))


def _too_few(simulator: Simulator) -> Iterator[str]:
    """A floor of the gate that held-out cannot reach, whatever is found there."""
    least = simulator.gate.min_effective
    held = ClusterSums(np.zeros(len(simulator.heldout)), np.array(simulator.heldout, np.float64))
    if held.effective < least:
        yield (
            f"held-out is too small for any decision: its {held.clusters} consultations weigh as "
            f"{held.effective:.1f} of one size, the gate needs {least:g} (gate.min_effective)"
        )


def _warnings(found: Resolution) -> Iterator[str]:
    hoped = f"the hoped gain of {found.hoped_gain:.3f} (gate.hoped_gain)"
    if found.power_at_hoped.value < TARGET:
        smallest = found.smallest_detectable
        least = "more than 0.500" if smallest is None else f"{smallest.value:.3f}"
        yield (
            f"held-out cannot resolve {hoped}: the gate ships it in "
            f"{found.power_at_hoped.value:.0%} of runs, 80% takes {least}"
        )
    if found.pre_gate_at_hoped.value < TARGET:
        yield (
            f"accept cannot resolve {hoped}: the pre-gate buys the look in "
            f"{found.pre_gate_at_hoped.value:.0%} of runs"
        )
    if found.selection_optimism.value >= found.hoped_gain:
        yield (
            f"accept overstates the best candidate by {found.selection_optimism.value:.3f} "
            f"from choosing it alone, as much as {hoped}"
        )


def _sentences(report: PowerReport) -> list[str]:
    needed, chosen = report.needed, report.selection_optimism
    number = needed.consultations
    many = f"more than {MOST_CONSULTATIONS}" if number is None else f"about {number}"
    return [
        f"a difference of +{needed.difference:.3f} needs {many} held-out consultations "
        f"for 80% power ({report.gate.rule})",
        f"the best of {chosen.candidates} equally good candidates overstates itself on accept by "
        f"{_shown(chosen)}, from having been chosen (a part of the optimism)",
        f"model: {report.model}",
        f"{report.draws} simulated data sets a figure, seed {report.seed}; "
        "± is the Monte Carlo standard error",
    ]


def _shown(found: Estimate | PowerAt | ChoiceOptimism) -> str:
    return f"{found.value:.3f} ±{found.error:.3f}"
