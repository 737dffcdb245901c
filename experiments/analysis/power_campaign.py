"""`heldout power`: from a configuration to what its partition can detect."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.experiments.analysis.cluster_models import (
    Assumed,
    DifferenceModel,
    Pilot,
    Sizes,
    pair_counts,
)
from heldout.experiments.analysis.power import PowerReport, PowerSettings, Simulator, power
from heldout.experiments.analysis.power_report import Resolution, resolution
from heldout.experiments.analysis.run_noise import run_noise_levels
from heldout.experiments.analysis.score_files import read_scores, score_tables
from heldout.experiments.campaigns.checks import check
from heldout.experiments.campaigns.examination import Checked
from heldout.experiments.runs.config_file import ConfigSource, load_config
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.splits.errors import BadInput

ACCEPTANCE_DRAWS = 4_000
SUMMARY_DRAWS = 500
"""Simulated data sets a figure of a dry run: quick, with an error of about two points."""


def power_of(
    source: ConfigSource,
    settings: Sequence[str] = (),
    *,
    pilot: tuple[str, str] | None = None,
    draws: int = 2_000,
    wanted: float = 0.05,
    candidates: int = 10,
) -> PowerReport:
    """What the partition of a configuration, with `settings` changed, can detect.

    `pilot` are two score files, candidate and baseline, to take the spread from; the rest is as in
    `PowerSettings`. Raises BadInput for files that cannot be read, or a split with too few pairs.
    """
    config = load_config(source, settings)
    with tempfile.TemporaryDirectory() as folder:
        checked = check(config, RunDirectory(Path(folder)))
        accept, heldout = _sizes(checked)
    return power(
        _model(checked, pilot),
        accept=accept,
        heldout=heldout,
        gate=config.gate,
        settings=PowerSettings(
            seed=config.seed,
            draws=draws,
            wanted=wanted,
            candidates=candidates,
            planned_looks=checked.partition.planned_looks,
        ),
    )


def short_form(checked: Checked) -> Resolution:
    """What a dry run prints: can accept and held-out resolve what the configuration hopes for?"""
    accept, heldout = _sizes(checked)
    settings = PowerSettings(
        seed=checked.config.seed,
        draws=SUMMARY_DRAWS,
        planned_looks=checked.partition.planned_looks,
    )
    gate = checked.config.gate
    return resolution(Simulator(Assumed(), accept, heldout, gate, settings))


def replicates_sentence(checked: Checked, more: Mapping[str, Any] | None) -> str | None:
    """What replicates buy against run-to-run noise, and cost; None where there are enough.

    `more` is the probable cost beyond that of the configuration.
    """
    if more is None:
        return None
    gate, planned = checked.config.gate, checked.partition.planned_looks
    rng = generator(checked.config.seed, "plan", "replicates")
    found = run_noise_levels(_sizes(checked)[1], rng, alpha=gate.alpha / planned)
    usd = "price unknown" if more["usd"] is None else f"USD {more['usd']:.2f}"
    return (
        f"run-to-run noise: if a block moves by {found.run_sd:g} from run to run, one run of each "
        f"note ships {found.once:.1%} of nulls at {gate.alpha / planned:.1%}; confirm.replicates: "
        f"{found.runs} allows for it ({found.allowed:.1%}) and costs about {more['calls']} calls, "
        f"{more['tokens']} tokens, {usd} more"
    )


def acceptance_sentence(checked: Checked) -> str:
    """How often a child enters on a minibatch of the chosen size: one no better, one better.

    Under the assumed differences, from pairs alone: clean notes, whose weight is small by default,
    are left out.
    """
    search, hoped = checked.config.search, checked.config.gate.hoped_gain
    batch = np.full(
        (ACCEPTANCE_DRAWS, search.minibatch_consultations), search.minibatch_errored, dtype=np.int64
    )
    rng = generator(checked.config.seed, "plan", "acceptance")
    shares = [
        float((Assumed().draw(batch, effect, rng).mean > search.acceptance_margin + 1e-12).mean())
        for effect in (0.0, hoped)
    ]
    return (
        f"acceptance on {search.minibatch_consultations} consultations of "
        f"{search.minibatch_errored} errored notes: a child that is no better enters in "
        f"{shares[0]:.0%} of tries, one better by {hoped:.3f} in {shares[1]:.0%} "
        f"(±{1 / (2 * ACCEPTANCE_DRAWS**0.5):.1%})"
    )


def _sizes(checked: Checked) -> tuple[Sizes, Sizes]:
    """Pairs of the primary measure in each consultation of accept and of held-out."""
    benchmark = checked.made.benchmark if checked.made else checked.load().benchmark
    pairs = primary_pairs(checked.config.search.primary)
    splits = checked.partition.splits
    accept, heldout = (
        pair_counts([benchmark.by_id[name] for name in splits[split]], pairs)
        for split in ("accept", "heldout")
    )
    if min(len(accept), len(heldout)) < 2:
        raise BadInput.one(
            "search.primary",
            f"{checked.config.search.primary}: its pairs stand in fewer than two consultations",
        )
    return accept, heldout


def _model(checked: Checked, pilot: tuple[str, str] | None) -> DifferenceModel:
    if pilot is None:
        return Assumed()
    files = read_scores(pilot[0]), read_scores(pilot[1])
    benchmark = checked.made.benchmark if checked.made else checked.load().benchmark
    ours, theirs = score_tables(*files, benchmark)
    pairs = primary_pairs(checked.config.search.primary)
    return Pilot.of([difference(ours, theirs, pairs)])
