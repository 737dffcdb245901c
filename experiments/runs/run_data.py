"""The data of a run, as its configuration names them: benchmark, manifest, exclusions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import RunDirectory, existing_run
from heldout.gepa.record.journal import Journal
from heldout.splits.benchmark import CleanMeans
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.registry import LooksRegistry, registry_path
from heldout.splits.heldout.vault import Splits, open_splits
from heldout.splits.loading.benchmark_files import BenchmarkSource, Loaded, open_benchmark
from heldout.splits.loading.columns import TableOptions
from heldout.splits.partition.exclusions import read_exclusions

PAIRS_FILE = "pairs.jsonl.gz"
CONSULTATIONS_FILE = "consultations.jsonl.gz"


@dataclass(frozen=True)
class RunData:
    """Where the data of a run lie; `exclude` are ids of consultations that no split may hold.

    `registry` knows who looked at the consultations; None for a benchmark that is drawn.
    """

    source: BenchmarkSource
    manifest: Path
    exclude: frozenset[str]
    registry: LooksRegistry | None

    @property
    def load(self) -> Callable[[], Loaded]:
        """Reads the benchmark's own files."""
        return lambda: open_benchmark(self.source)


def data_of(config: Config, run: RunDirectory) -> RunData:
    """The data of `config` for a run in `run`. Raises BadInput for exclusions that cannot be read.

    A synthetic benchmark lies in the run once it is drawn.
    """
    section, registry = config.benchmark, None
    if section.synthetic is not None:
        folder = run.benchmark
        source = BenchmarkSource(
            folder / PAIRS_FILE, folder / CONSULTATIONS_FILE, CleanMeans.VERIFIED, public=True
        )
    else:
        assert section.pairs is not None  # the schema wants one of the two
        registry = LooksRegistry(registry_path(config.looks.registry, section.pairs))
        source = BenchmarkSource(
            section.pairs,
            section.consultations,
            section.clean_means,
            section.public,
            section.transcript,
            TableOptions(section.columns, section.delimiter, section.encoding, section.multiline),
        )
    manifest = config.partition.manifest or run.manifest
    return RunData(source, manifest, read_exclusions(config.partition.exclude), registry)


def splits_of_run(path: Path, *, journal: Journal, buyer: Buyer) -> Splits:
    """The splits of the run at `path`, verified, for a `buyer` whose looks go to `journal`.

    Raises BadInput where the run, its data or its partition cannot be read or do not fit.
    """
    run = existing_run(path)
    data = data_of(load_config(run.config, stored=True), run)
    return open_splits(
        data.load,
        data.manifest,
        journal=journal,
        buyer=buyer,
        exclude=data.exclude,
        registry=data.registry,
    )
