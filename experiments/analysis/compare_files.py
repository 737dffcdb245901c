"""`heldout compare`: from two score files to a comparison, as a table or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import RenderableType

from heldout.experiments.analysis.compare import CompareSettings, compare, to_json
from heldout.experiments.analysis.compare_table import render
from heldout.experiments.analysis.score_files import read_scores, score_tables
from heldout.experiments.judging.fact_digests import read_facts, refuse_other_facts
from heldout.gepa.settings import Primary
from heldout.splits.benchmark import CleanMeans
from heldout.splits.loading.benchmark_files import BenchmarkSource, load


def compare_files(
    sources: tuple[str, str],
    *,
    benchmark: tuple[Path | None, Path | None],
    primary: Primary,
    seed: int,
    as_json: bool,
) -> dict[str, Any] | RenderableType:
    """Compare candidate and baseline; `benchmark` is its pairs file and its consultations.

    Raises BadInput for files that cannot be read, are not about the same notes, or rest on
    different facts.
    """
    pairs, consultations = benchmark
    texts = None if pairs is None else load(BenchmarkSource(pairs, consultations))
    refuse_other_facts(sources, *map(read_facts, sources))
    files = read_scores(sources[0]), read_scores(sources[1])
    ours, theirs = score_tables(*files, texts)
    settings = CompareSettings(seed=seed, primary=primary)
    result = compare((files[0].name, ours), (files[1].name, theirs), settings, benchmark=texts)
    if as_json:
        return to_json(result)
    return render(result, clean_means=texts.clean_means if texts else CleanMeans.UNEDITED)
