"""Power in JSON and in words, and the short form that a dry run prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heldout.experiments.analysis.power import (
    MOST_CONSULTATIONS,
    TARGET,
    Estimate,
    PowerReport,
    Simulator,
)


def power_json(report: PowerReport) -> dict[str, Any]:
    """The report with stable keys; every simulated figure as `{value, error}`."""
    return {
        "seed": report.settings.seed,
        "draws": report.settings.draws,
        "model": report.model,
        "accept": {"consultations": len(report.accept), "pairs": sum(report.accept)},
        "heldout": {"consultations": len(report.heldout), "pairs": sum(report.heldout)},
        "gate": {
            "rule": report.gate.rule,
            "alpha": report.gate.alpha,
            "margin": report.gate.margin,
            "pre_gate": report.gate.pre_gate,
            "planned_looks": report.settings.planned_looks,
        },
        "rules": {
            rule.rule: {
                "when_nothing_changed": rule.when_nothing_changed.to_json(),
                "power": [{"difference": effect, **found.to_json()} for effect, found in rule.at],
                "smallest_detectable": rule.smallest.to_json() if rule.smallest else None,
            }
            for rule in report.rules
        },
        "stages": [
            {
                "difference": stage.effect,
                "pre_gate": stage.buys.to_json(),
                "gate": stage.ships.to_json(),
                "both": stage.both.to_json(),
            }
            for stage in report.stages
        ],
        "selection_optimism": {
            "candidates": report.settings.candidates,
            **report.selection_optimism.to_json(),
        },
        "needed": {"difference": report.settings.wanted, "consultations": report.needed},
    }


def render_power(report: PowerReport) -> RenderableType:
    """The report for a rich console."""
    effects = report.settings.effects
    rules = Table(
        title=f"power at {len(report.heldout)} held-out consultations", title_justify="left"
    )
    for name in ("rule", "nothing changed", *(f"+{e:.2f}" for e in effects), "80% power from"):
        rules.add_column(name, justify="left" if name == "rule" else "right")
    for rule in report.rules:
        smallest = "over +0.50" if rule.smallest is None else f"+{_shown(rule.smallest)}"
        cells = [_shown(found) for _, found in rule.at]
        rules.add_row(rule.rule, _shown(rule.when_nothing_changed), *cells, smallest)
    stages = Table(
        title=f"pre-gate {report.gate.pre_gate} and gate {report.gate.rule} together",
        title_justify="left",
    )
    for name in ("true difference", "look bought", "gate ships", "both"):
        stages.add_column(name, justify="right")
    for stage in report.stages:
        found = (stage.buys, stage.ships, stage.both)
        stages.add_row(f"+{stage.effect:.2f}", *map(_shown, found))
    return Group(rules, stages, Text("\n".join(_sentences(report))))


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the two sets of a planned run can resolve, against what its config hopes for."""

    hoped_gain: float
    smallest: Estimate | None
    power_at_hoped: Estimate
    bought_at_hoped: Estimate
    selection_optimism: Estimate
    model: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each set that cannot resolve the hoped gain."""
        found = []
        hoped = f"the hoped gain of {self.hoped_gain:.3f} (gate.hoped_gain)"
        if self.power_at_hoped.value < TARGET:
            least = "more than 0.500" if self.smallest is None else f"{self.smallest.value:.3f}"
            found.append(
                f"held-out cannot resolve {hoped}: the gate ships it in "
                f"{self.power_at_hoped.value:.0%} of runs, 80% takes {least}"
            )
        if self.bought_at_hoped.value < TARGET:
            found.append(
                f"accept cannot resolve {hoped}: the pre-gate buys the look in "
                f"{self.bought_at_hoped.value:.0%} of runs"
            )
        if self.selection_optimism.value >= self.hoped_gain:
            found.append(
                f"accept overstates the best candidate by {self.selection_optimism.value:.3f} "
                f"from choosing it alone, as much as {hoped}"
            )
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """All figures and the warnings."""
        return {
            "hoped_gain": self.hoped_gain,
            "smallest_detectable": self.smallest.to_json() if self.smallest else None,
            "power_at_hoped": self.power_at_hoped.to_json(),
            "pre_gate_at_hoped": self.bought_at_hoped.to_json(),
            "selection_optimism": self.selection_optimism.to_json(),
            "model": self.model,
            "warnings": list(self.warnings),
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        """Three lines for the dry run; the warnings are apart."""
        least = "more than 0.500" if self.smallest is None else f"{_shown(self.smallest)}"
        return (
            f"power ({self.model}):",
            f"  smallest difference with 80% power {least}; "
            f"{self.hoped_gain:.3f} is shipped in {_shown(self.power_at_hoped)}, "
            f"its look bought in {_shown(self.bought_at_hoped)}",
            f"  the best candidate on accept overstates itself by "
            f"{_shown(self.selection_optimism)} from having been chosen",
        )


def resolution(simulator: Simulator) -> Resolution:
    """The short form for `run --dry-run`: only the gate's own rule, only the hoped gain."""
    gate = simulator.gate
    return Resolution(
        hoped_gain=gate.hoped_gain,
        smallest=simulator.smallest(gate.rule),
        power_at_hoped=simulator.shipped(gate.rule, gate.hoped_gain),
        bought_at_hoped=simulator.bought(gate.hoped_gain),
        selection_optimism=simulator.selection(simulator.settings.candidates),
        model=simulator.model.description,
    )


def _sentences(report: PowerReport) -> list[str]:
    needed = (
        f"more than {MOST_CONSULTATIONS}" if report.needed is None else f"about {report.needed}"
    )
    settings = report.settings
    return [
        f"a difference of +{settings.wanted:.3f} needs {needed} held-out consultations "
        f"for 80% power ({report.gate.rule})",
        f"the best of {settings.candidates} equally good candidates overstates itself on accept by "
        f"{_shown(report.selection_optimism)}, from having been chosen (a part of the optimism)",
        f"model: {report.model}",
        f"{settings.draws} simulated data sets a figure, seed {settings.seed}; "
        "± is the Monte Carlo standard error",
    ]


def _shown(found: Estimate) -> str:
    return f"{found.value:.3f} ±{found.error:.3f}"
