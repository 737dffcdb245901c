"""Two judges on the same notes, compared in full: what `heldout compare` prints.

Everything is computed from two score tables; texts are needed only for the word-count control.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from heldout.experiments.analysis.score_files import read_scores, score_tables
from heldout.experiments.judging.fact_digests import read_facts, refuse_other_facts
from heldout.gepa.gate.rules import RuleVerdict, all_rules
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.settings import Primary
from heldout.gepa.statistics.agreement.length import length_following
from heldout.gepa.statistics.declared import DeclaredFigure, figure
from heldout.gepa.statistics.difference import Difference, difference
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.intervals.resampling import (
    bootstrap_interval,
    bootstrap_means,
    generator,
)
from heldout.gepa.statistics.intervals.swept_bootstrap import swept_difference, swept_interval
from heldout.gepa.statistics.measures import AtThreshold, measures_of_table
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import (
    DEFAULT_CAP,
    AtRule,
    Swept,
    swept,
    threshold_flags,
)
from heldout.gepa.statistics.rates.paired import Paired, paired
from heldout.gepa.statistics.rates.ranking import auc, youden
from heldout.gepa.statistics.slices import Slice, all_slices, consultation_mean, paired_interval
from heldout.gepa.statistics.table import BoolArray, ScoreTable
from heldout.gepa.statistics.tests.exact import (
    McNemarTests,
    SignTests,
    mcnemar_tests,
    sign_tests,
    two_proportion_z,
)
from heldout.gepa.word_control import word_count_table
from heldout.splits.benchmark import Benchmark, CleanMeans
from heldout.splits.loading.benchmark_files import BenchmarkSource, load


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


Unprinted = Field(exclude=True)
"""Marks a figure that the table shows and the JSON does not."""


@dataclass(frozen=True, slots=True)
class SweptFigures(Swept):
    """Swept detection with its interval, the threshold chosen again in every resample.

    `z` is the pooled two-proportion z of detection against false alarms.
    """

    interval: Interval | None
    z: float | None


@dataclass(frozen=True, kw_only=True)
class JudgeFigures:
    """One judge in a comparison: everything that needs only its own table.

    `wins`, `ties`, `losses`, `paired_interval` and `consultation_weighted` (the figure with each
    consultation weighted alike, not each pair) are of omissions; `follows_length` is the
    correlation of scores with word counts inside consultations, None without texts.
    """

    name: str
    paired_omissions: float | None
    paired_commissions: float | None
    at_rule: AtRule | None
    at_threshold: AtThreshold | None
    swept: SweptFigures
    violations: Count
    wins: int
    ties: int
    losses: int
    paired_interval: Interval | None
    consultation_weighted: float | None
    auc: DeclaredFigure
    youden_j: DeclaredFigure
    follows_length: float | None
    by_class: Mapping[str, Slice]
    by_trace: Mapping[str, Slice]
    by_severity: Mapping[str, Slice]
    by_stratum: Mapping[str, Slice]
    by_source: Mapping[str, Slice]
    omissions: Annotated[Paired, Unprinted]
    commissions: Annotated[Paired, Unprinted]


@dataclass(frozen=True, slots=True)
class NotesCompared:
    """How many notes of each kind were compared, in how many consultations."""

    omissions: int
    commissions: int
    clean: int
    consultations: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The full comparison, candidate minus baseline; `--json` prints these fields.

    `word_count` is a judge that counts words, None without texts; `mcnemar` compares flags on
    omissions, each judge at its own swept threshold; `rules` is what every gate rule says.
    """

    n: NotesCompared
    primary: Primary
    candidate: JudgeFigures
    baseline: JudgeFigures
    word_count: JudgeFigures | None
    difference: Interval | None
    consultation_weighted: float | None
    jointly_answered: Interval | None
    commissions_difference: Interval | None
    swept_difference: Interval | None
    bootstrap: tuple[Interval, ...]
    sign_test: SignTests
    mcnemar: McNemarTests
    rules: tuple[RuleVerdict, ...]
    clean_means: Annotated[CleanMeans, Unprinted]

    @property
    def judges(self) -> tuple[JudgeFigures, ...]:
        """Candidate, baseline, and the word count where there is one."""
        found = (self.candidate, self.baseline)
        return found if self.word_count is None else (*found, self.word_count)


def compare_files(
    candidate: str,
    baseline: str,
    settings: CompareSettings,
    *,
    pairs: Path | None = None,
    consultations: Path | None = None,
) -> Comparison:
    """Compare two score files; `pairs` and `consultations` are the files of their benchmark.

    Raises BadInput for files that cannot be read, are not about the same notes, or rest on
    different facts.
    """
    benchmark = None if pairs is None else load(BenchmarkSource(pairs, consultations))
    sources = (candidate, baseline)
    refuse_other_facts(sources, *map(read_facts, sources))
    files = read_scores(candidate), read_scores(baseline)
    tables = score_tables(*files, benchmark)
    return compare(*tables, settings, names=(files[0].name, files[1].name), benchmark=benchmark)


def compare(
    candidate: ScoreTable,
    baseline: ScoreTable,
    settings: CompareSettings,
    *,
    names: tuple[str, str],
    benchmark: Benchmark | None = None,
) -> Comparison:
    """Compare two tables over the same notes, under the names of their judges.

    `benchmark` gives texts for the word-count control. Raises ValueError when the tables are not
    about the same notes.
    """
    ours, theirs = candidate, baseline.in_order_of(candidate.labels)
    words = _words(ours, benchmark)
    data = difference(ours, theirs, primary_pairs(settings.primary))
    level, cap = settings.level, settings.cap
    rng = generator(settings.seed, "compare", "swept")
    return Comparison(
        n=NotesCompared(
            omissions=int(ours.omission.sum()),
            commissions=int(ours.commission.sum()),
            clean=int(ours.clean.sum()),
            consultations=int(np.unique(ours.cluster).size),
        ),
        primary=settings.primary,
        candidate=_judge(names[0], ours, settings, words),
        baseline=_judge(names[1], theirs, settings, words),
        word_count=None
        if words is None
        else _judge("word count", word_count_table(ours.labels, words), settings, words),
        difference=data.interval(level),
        consultation_weighted=data.consultation_weighted,
        jointly_answered=data.jointly_answered().interval(level),
        commissions_difference=difference(ours, theirs, "commission").interval(level),
        swept_difference=swept_difference(ours, theirs, rng, cap=cap, level=level),
        bootstrap=_bootstraps(data, settings),
        sign_test=sign_tests(data),
        mcnemar=_mcnemar(ours, theirs, cap),
        rules=tuple(
            rule.verdict(data, alpha=settings.alpha, margin=settings.margin)
            for rule in all_rules(settings.seed).values()
        ),
        clean_means=benchmark.clean_means if benchmark else CleanMeans.UNEDITED,
    )


def _judge(
    name: str, table: ScoreTable, settings: CompareSettings, words: Mapping[str, int] | None
) -> JudgeFigures:
    level = settings.level
    measures = measures_of_table(table, cap=settings.cap)
    omissions, parts = paired(table, "omission"), all_slices(table, level=level)
    area, cut = auc(table), youden(table)
    return JudgeFigures(
        name=name,
        paired_omissions=measures.paired_omissions,
        paired_commissions=measures.paired_commissions,
        at_rule=measures.at_rule,
        at_threshold=measures.at_threshold,
        swept=_swept(table, measures.swept, settings),
        violations=measures.violations,
        wins=omissions.wins,
        ties=omissions.ties,
        losses=omissions.losses,
        paired_interval=paired_interval(table, "omission", level=level),
        consultation_weighted=consultation_mean(table, "omission"),
        auc=figure("auc", area.value, area.errored, "no scored omission or no scored clean note"),
        youden_j=figure("youden_j", cut.j, cut.detection.n, "no omission or no clean note"),
        follows_length=None if words is None else length_following(table, words).correlation,
        by_class=parts["class"],
        by_trace=parts["trace"],
        by_severity=parts["severity"],
        by_stratum=parts["stratum"],
        by_source=parts["source"],
        omissions=omissions,
        commissions=paired(table, "commission"),
    )


def _swept(table: ScoreTable, found: Swept, settings: CompareSettings) -> SweptFigures:
    rng = generator(settings.seed, "compare", "swept")
    interval = swept_interval(table, rng, cap=settings.cap, level=settings.level)
    return SweptFigures(
        found.detection,
        found.false_alarms,
        found.threshold,
        found.floor,
        interval if interval is not None and interval.known else None,
        two_proportion_z(found.detection, found.false_alarms),
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


def _mcnemar(ours: ScoreTable, theirs: ScoreTable, cap: float) -> McNemarTests:
    flags = [_swept_flags(table, cap)[table.omission] for table in (ours, theirs)]
    return mcnemar_tests(flags[0], flags[1], ours.cluster[ours.omission])


def _swept_flags(table: ScoreTable, cap: float) -> BoolArray:
    threshold = swept(table, cap).threshold
    if threshold is None:
        return np.zeros(len(table.labels), dtype=np.bool_)
    return threshold_flags(table, threshold)
