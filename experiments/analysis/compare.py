"""Two judges on the same notes, compared in full: what `heldout compare` prints.

Everything is computed from two score tables; texts are needed only for the word-count control.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.gepa.gate.rules import RuleVerdict, all_rules
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.codec import plain
from heldout.gepa.settings import Primary
from heldout.gepa.statistics.agreement.length import LengthFollowing, length_following
from heldout.gepa.statistics.declared import Figure, figure
from heldout.gepa.statistics.difference import Difference, difference
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.intervals.resampling import (
    bootstrap_interval,
    bootstrap_means,
    generator,
)
from heldout.gepa.statistics.intervals.swept_bootstrap import swept_difference, swept_interval
from heldout.gepa.statistics.measures import measures_of_table
from heldout.gepa.statistics.rates.detection import DEFAULT_CAP, Swept, swept, threshold_flags
from heldout.gepa.statistics.rates.paired import Paired, paired
from heldout.gepa.statistics.rates.ranking import auc, youden
from heldout.gepa.statistics.slices import AXES, Slice, all_slices, paired_interval
from heldout.gepa.statistics.table import BoolArray, ScoreTable
from heldout.gepa.statistics.tests.exact import (
    TwoForms,
    mcnemar_tests,
    sign_tests,
    two_proportion_z,
)
from heldout.gepa.word_control import word_count_table
from heldout.splits.benchmark import Benchmark


@dataclass(frozen=True, kw_only=True)
class CompareSettings:
    """How two tables are compared; `seed` drives resampling and has no default on purpose.

    `alpha` is one-sided, as at the gate; intervals have level 1 - 2 alpha.
    """

    seed: int
    primary: Primary = "paired_omissions"
    cap: float = DEFAULT_CAP
    alpha: float = 0.025
    margin: float = 0.0

    @property
    def level(self) -> float:
        """Level of the printed intervals."""
        return 1 - 2 * self.alpha


@dataclass(frozen=True)
class JudgeSide:
    """One judge in a comparison, with everything that needs only its own table."""

    name: str
    table: ScoreTable
    omissions: Paired
    commissions: Paired
    omissions_interval: Interval | None
    swept: Swept
    swept_interval: Interval | None
    figures: tuple[Figure, ...]
    slices: tuple[Slice, ...]
    length: LengthFollowing | None


@dataclass(frozen=True)
class Comparison:
    """The full comparison, candidate minus baseline.

    `words` is the word-count control on the same notes, None without texts; `mcnemar` compares
    flags on omissions, each side at its own swept threshold.
    """

    settings: CompareSettings
    candidate: JudgeSide
    baseline: JudgeSide
    words: JudgeSide | None
    data: Difference
    difference: Interval | None
    jointly_answered: Interval | None
    commissions: Interval | None
    bootstrap: tuple[Interval, ...]
    swept_difference: Interval | None
    sign_test: TwoForms
    mcnemar: TwoForms
    verdicts: tuple[RuleVerdict, ...]


def compare(
    candidate: tuple[str, ScoreTable],
    baseline: tuple[str, ScoreTable],
    settings: CompareSettings,
    *,
    benchmark: Benchmark | None = None,
) -> Comparison:
    """Compare two named tables over the same notes.

    `benchmark` gives texts for the word-count control. Raises ValueError when the tables are not
    about the same notes.
    """
    ours, theirs = candidate[1], baseline[1].in_order_of(candidate[1].labels)
    words = _words(ours, benchmark)
    counts = None if words is None else word_count_table(ours.labels, words)
    data = difference(ours, theirs, primary_pairs(settings.primary))
    level = settings.level
    rules = all_rules(settings.seed).values()
    return Comparison(
        settings=settings,
        candidate=_side(candidate[0], ours, settings, words),
        baseline=_side(baseline[0], theirs, settings, words),
        words=None if counts is None else _side("word count", counts, settings, words),
        data=data,
        difference=data.interval(level),
        jointly_answered=data.jointly_answered().interval(level),
        commissions=difference(ours, theirs, "commission").interval(level),
        bootstrap=_bootstraps(data, settings),
        swept_difference=swept_difference(
            ours,
            theirs,
            generator(settings.seed, "compare", "swept"),
            cap=settings.cap,
            level=level,
        ),
        sign_test=sign_tests(data),
        mcnemar=_mcnemar(ours, theirs, settings.cap),
        verdicts=tuple(
            rule.verdict(data, alpha=settings.alpha, margin=settings.margin) for rule in rules
        ),
    )


def _side(
    name: str, table: ScoreTable, settings: CompareSettings, words: Mapping[str, int] | None
) -> JudgeSide:
    level = settings.level
    rng = generator(settings.seed, "compare", "swept")
    return JudgeSide(
        name=name,
        table=table,
        omissions=paired(table, "omission"),
        commissions=paired(table, "commission"),
        omissions_interval=paired_interval(table, "omission", level=level),
        swept=swept(table, settings.cap),
        swept_interval=swept_interval(table, rng, cap=settings.cap, level=level),
        figures=_figures(table),
        slices=all_slices(table, level=level),
        length=None if words is None else length_following(table, words),
    )


def _figures(table: ScoreTable) -> tuple[Figure, ...]:
    area, cut = auc(table), youden(table)
    return (
        figure("auc", area.value, area.errored, "no scored omission or no scored clean note"),
        figure("youden_j", cut.j, cut.detection.n, "no omission or no clean note"),
    )


def _words(table: ScoreTable, benchmark: Benchmark | None) -> dict[str, int] | None:
    if benchmark is None:
        return None
    texts = {note.id: note.text for c in benchmark for note in c.notes}
    return {label.id: len(texts[label.id].split()) for label in table.labels}


def _bootstraps(data: Difference, settings: CompareSettings) -> tuple[Interval, ...]:
    if data.consultations < 2:
        return ()
    draws = bootstrap_means(data.sums, generator(settings.seed, "compare", "paired"))
    return (
        bootstrap_interval(data.sums, draws, level=settings.level, method="percentile"),
        bootstrap_interval(data.sums, draws, level=settings.level, method="bca"),
    )


def _mcnemar(ours: ScoreTable, theirs: ScoreTable, cap: float) -> TwoForms:
    flags = [_swept_flags(table, cap)[table.omission] for table in (ours, theirs)]
    return mcnemar_tests(flags[0], flags[1], ours.cluster[ours.omission])


def _swept_flags(table: ScoreTable, cap: float) -> BoolArray:
    threshold = swept(table, cap).threshold
    if threshold is None:
        return np.zeros(len(table.labels), dtype=np.bool_)
    return threshold_flags(table, threshold)


def to_json(result: Comparison) -> dict[str, Any]:
    """The comparison with stable keys."""
    table = result.candidate.table
    sign, flags = result.sign_test, result.mcnemar
    return {
        "n": {
            "omissions": int(table.omission.sum()),
            "commissions": int(table.commission.sum()),
            "clean": int(table.clean.sum()),
            "consultations": int(np.unique(table.cluster).size),
        },
        "primary": result.settings.primary,
        "candidate": side_json(result.candidate),
        "baseline": side_json(result.baseline),
        "word_count": side_json(result.words) if result.words else None,
        "difference": _interval(result.difference),
        "jointly_answered": _interval(result.jointly_answered),
        "commissions_difference": _interval(result.commissions),
        "swept_difference": _interval(result.swept_difference),
        "bootstrap": [interval.to_json() for interval in result.bootstrap],
        "sign_test": {
            "wins": sign.rows.wins,
            "losses": sign.rows.losses,
            "p": sign.rows.p,
            "by_consultation": {
                "wins": sign.consultations.wins,
                "losses": sign.consultations.losses,
                "p": sign.consultations.p,
            },
        },
        "mcnemar": {
            "candidate_only": flags.rows.wins,
            "baseline_only": flags.rows.losses,
            "p": flags.rows.p,
            "by_consultation": {
                "candidate_only": flags.consultations.wins,
                "baseline_only": flags.consultations.losses,
                "p": flags.consultations.p,
            },
        },
        "rules": [plain(verdict) for verdict in result.verdicts],
    }


def side_json(side: JudgeSide) -> dict[str, Any]:
    """One judge: the measures object with counts, slices and threshold-free figures beside."""
    body: dict[str, Any] = plain(measures_of_table(side.table))
    body["swept"] = {
        **side.swept.to_json(),
        "interval": _interval(side.swept_interval),
        "z": two_proportion_z(side.swept.detection, side.swept.false_alarms),
    }
    by_axis: dict[str, dict[str, object]] = {f"by_{axis}": {} for axis in AXES}
    for part in side.slices:
        by_axis[f"by_{part.axis}"][part.key] = part.to_json()
    length = side.length
    return {
        "name": side.name,
        **body,
        "wins": side.omissions.wins,
        "ties": side.omissions.ties,
        "losses": side.omissions.losses,
        "paired_interval": _interval(side.omissions_interval),
        **{found.measure.name: found.to_json() for found in side.figures},
        "follows_length": None if length is None else length.correlation,
        **by_axis,
    }


def _interval(interval: Interval | None) -> dict[str, object] | None:
    return interval.to_json() if interval else None
