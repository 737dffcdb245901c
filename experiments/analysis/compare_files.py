"""Two score files compared: what `heldout compare` and `heldout.compare` do."""

from __future__ import annotations

from pathlib import Path

from heldout.experiments.analysis.compare import CompareSettings, Comparison, compare
from heldout.experiments.analysis.score_files import read_scores, score_tables
from heldout.experiments.judging.fact_digests import read_facts, refuse_other_facts
from heldout.gepa.settings import Primary
from heldout.splits.loading.benchmark_files import BenchmarkSource, load


def compare_files(
    candidate: str,
    baseline: str,
    *,
    benchmark: Path | None,
    consultations: Path | None,
    primary: Primary,
    seed: int,
) -> Comparison:
    """Compare candidate and baseline; `benchmark` is a pairs file, for labels and word counts.

    Raises BadInput for files that cannot be read, are not about the same notes, or rest on
    different facts.
    """
    texts = None if benchmark is None else load(BenchmarkSource(benchmark, consultations))
    refuse_other_facts((candidate, baseline), read_facts(candidate), read_facts(baseline))
    files = read_scores(candidate), read_scores(baseline)
    ours, theirs = score_tables(*files, texts)
    settings = CompareSettings(seed=seed, primary=primary)
    return compare((files[0].name, ours), (files[1].name, theirs), settings, benchmark=texts)
