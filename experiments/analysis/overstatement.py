"""`heldout optimism`: how much accept overstated a run's winner, from several sides.

The whole of it is estimated by searches on the simulated placebo: the run's own configuration with
a judge whose scores are noise, so that nothing can improve and whatever accept shows is optimism.
They draw partitions of their own in a temporary folder and touch no look of the run's manifest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.campaigns.checks import check
from heldout.experiments.campaigns.running import start
from heldout.experiments.campaigns.session import RunOptions
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import RunDirectory, existing_run
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.run import Run
from heldout.gepa.settings import Primary
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.measures import Measures
from heldout.gepa.statistics.tests.optimism import (
    OptimismEstimate,
    SearchOutcome,
    placebo_optimism,
    selection_optimism,
)
from heldout.splits.errors import BadInput
from heldout.splits.randomness import bits

PLACEBO = (
    "student.model=sim/placebo",
    "student.parameters={}",
    "reflector.model=sim/reflector",
    "reflector.parameters={}",
    "models=null",
    "partition.manifest=null",
    "partition.planned_looks=1",
    "gate.pre_gate=off",
    "budget={}",
    "search.stop_usd=null",
    "store={}",
    "tracking.enabled=false",
)


@dataclass(frozen=True)
class OptimismReport:
    """One winner's figures side by side, in [0, 1] or as differences of such.

    `selection_lower_bound` is from having chosen the best, which is not all of it: the search wrote
    its blocks with accept in the loop. `corrected` is the accept figure less that part; `heldout`
    is None where no look was bought, `looks` how many there were.
    """

    accept: float
    selection_lower_bound: OptimismEstimate | None
    corrected: float | None
    placebo: OptimismEstimate | None
    heldout: float | None
    accept_minus_heldout: float | None
    looks: int
    placebo_is_simulated: bool = True


def optimism_of(
    run_dir: Path, searches: int, told: Callable[[str], None] = lambda _: None
) -> OptimismReport:
    """Accept and held-out figure of a finished run's winner with every estimate of optimism.

    `searches` placebo searches are run (none for 0); `told` hears of each. Raises BadInput for a
    run without a winner.
    """
    directory = existing_run(run_dir)
    run = Run.at(directory.path)
    if run.winner is None:
        raise BadInput.one(str(run_dir), "has no winner on accept yet")
    tables = [t for c in run.entered if (t := run.accept_table(c.id)) is not None]
    rng = generator(run.opened.seed, "optimism", "selection")
    outcomes = []
    for number in range(searches):
        outcomes.append(_placebo_search(directory, number, run.primary))
        told(f"placebo search {number + 1} of {searches}")
    accept = _figure(run.winner.accept.winner, run.primary)
    heldout = None if run.heldout is None else run.heldout.winner.primary(run.primary)
    chosen = selection_optimism(tables, rng, select=primary_pairs(run.primary))
    return OptimismReport(
        accept=accept,
        selection_lower_bound=chosen,
        corrected=None if chosen is None else accept - chosen.value,
        placebo=placebo_optimism(outcomes),
        heldout=heldout,
        accept_minus_heldout=None if heldout is None else accept - heldout,
        looks=0 if run.heldout is None else run.heldout.looks,
    )


def _placebo_search(run: RunDirectory, number: int, primary: Primary) -> SearchOutcome | None:
    """One search on the placebo; None where a seed won, which overstates nothing."""
    seed = bits("placebo search", str(run.path.name), number, width=31)
    config = load_config(run.config, [*PLACEBO, f"seed={seed}"], stored=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        found = start(check(config, RunDirectory(path)), path, RunOptions(quiet=True)).run
    if found.winner is None or found.heldout is None:
        return None
    accept, heldout = found.winner.accept.winner, found.heldout.winner
    return SearchOutcome(_figure(accept, primary), _figure(heldout, primary))


def _figure(measures: Measures, primary: Primary) -> float:
    """The primary figure of a winner, which has one: it was chosen by it."""
    value = measures.primary(primary)
    assert value is not None
    return value


def optimism_text(report: OptimismReport) -> str:
    """The figures side by side, for a person."""
    lines = [f"accept figure of the winner:        {report.accept:.3f}"]
    if (chosen := report.selection_lower_bound) is not None:
        lines += [
            f"from choosing the best:             {chosen.value:+.3f} "
            f"±{chosen.error:.3f}, {chosen.made_from}",
            f"accept less that part:              {report.corrected:.3f} (still too good)",
        ]
    if report.placebo is not None:
        lines.append(
            f"the whole, by simulated placebo:    {report.placebo.value:+.3f} "
            f"±{report.placebo.error:.3f}, {report.placebo.made_from}"
        )
    if report.heldout is not None:
        lines += [
            f"held-out figure:                    {report.heldout:.3f} (look {report.looks})",
            f"accept minus held-out, as seen:     {report.accept_minus_heldout:+.3f}",
        ]
    return "\n".join(lines)
