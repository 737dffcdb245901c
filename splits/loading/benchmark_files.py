"""A benchmark's files, read and validated whole before anything runs.

Three forms are read, told apart by suffix and first record:

- the released OmissionBench layout: a JSON object with `dataset_version` and `pairs` (`.json`),
  transcripts at `transcripts/<stratum>/<id>.txt` beside it;
- the same pair fields as JSON Lines (`.jsonl`), transcripts in such a folder or in a second file,
  any table of `consultation_id, transcript, note`;
- a generic table of groups (`.jsonl` with a field `group`, or any other table), see `group_tables`.

Each may be gzip-compressed. Every fault of every file is reported at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from heldout.splits.benchmark import Benchmark, CleanMeans
from heldout.splits.errors import BadInput
from heldout.splits.loading import group_tables
from heldout.splits.loading import pairs as pairs_rows
from heldout.splits.loading import transcripts as consultations
from heldout.splits.loading.columns import TableOptions, plain_name
from heldout.splits.loading.encodings import as_utf8
from heldout.splits.loading.group_tables import GroupTable, read_groups
from heldout.splits.loading.grouping import grouped
from heldout.splits.loading.pairs import read_pairs
from heldout.splits.loading.records import jsonl_records, object_records
from heldout.splits.loading.tables import JSON_LINES, open_table
from heldout.splits.loading.tables import SUFFIXES as TABLES
from heldout.splits.loading.text_files import Faults, InputFile, read_input
from heldout.splits.loading.transcripts import Transcripts, from_folder, from_records

UNVERSIONED = "unversioned"
"""The version of a benchmark whose files state none."""


@dataclass(frozen=True, slots=True)
class BenchmarkSource:
    """Where a benchmark's files are and what they are declared to be.

    `consultations` is a table or a folder of transcripts; None looks for a folder `transcripts`
    beside `pairs`. `clean_means`: what may be claimed of clean notes. `public`: texts may leave the
    run directory. `table` is what is said about the form of the tables.
    """

    pairs: Path
    consultations: Path | None = None
    clean_means: CleanMeans = CleanMeans.UNEDITED
    public: bool = False
    transcript: Literal["present", "absent"] = "present"
    table: TableOptions = field(default_factory=TableOptions)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A benchmark with the SHA-256 of each file it was read from, by name.

    `notices` says how tables were read that are not plain, and what was left out and why; nothing
    in it needs mending. A benchmark made in memory has no files.
    """

    benchmark: Benchmark
    files: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _PairsFile:
    version: str
    sha256: str
    rows: GroupTable
    notices: tuple[str, ...] = ()


def load(source: BenchmarkSource) -> Benchmark:
    """The benchmark alone, see `open_benchmark`."""
    return open_benchmark(source).benchmark


def open_benchmark(source: BenchmarkSource) -> Loaded:
    """Read and validate every file of `source`. Raises BadInput with all faults found."""
    faults = Faults()
    pairs = faults.attempt(_read_pairs_file, source, faults)
    if pairs is None:
        # Without pairs nothing is known to look for; a second file is still read for its faults.
        if source.consultations is not None and source.consultations.is_file():
            faults.attempt(_read_consultations, source.consultations, source, faults)
        raise BadInput(faults.found)
    transcripts = faults.attempt(_transcripts, source, pairs, faults)
    complete = transcripts is not None and transcripts.complete
    groups = grouped(
        pairs.rows.pairs,
        pairs.rows.clean,
        transcripts.by_id if transcripts else None,
        faults,
        place=str(source.consultations or source.pairs) if complete else None,
    )
    if not groups.consultations and not faults.found:
        faults.add(str(source.pairs), "holds no note")
    faults.raise_any()
    benchmark = Benchmark(
        name=source.pairs.name.split(".")[0],
        version=pairs.version,
        consultations=groups.consultations,
        clean_means=CleanMeans(source.clean_means),
        public=source.public,
        has_transcripts=transcripts is not None,
    )
    files = {source.pairs.name: pairs.sha256}
    for name, digest in (transcripts.files if transcripts else {}).items():
        files[name if name not in files else f"consultations/{name}"] = digest
    said = (*pairs.notices, *(transcripts.notices if transcripts else ()))
    return Loaded(benchmark, files, (*said, *groups.notices))


def _read_pairs_file(source: BenchmarkSource, faults: Faults) -> _PairsFile:
    file, options = read_input(source.pairs), source.table
    if source.consultations is not None:
        # What a second file has stands in that one.
        options = options.only([n for n in options.columns if n not in consultations.NAMES])
    if file.kind == ".json":
        return _release(as_utf8(file, options.encoding) if options.encoding else file, faults)
    if file.kind in JSON_LINES:
        records = jsonl_records(file, Faults())[:1] if options.encoding is None else []
        first = {plain_name(name) for record in records for name in record.value}
        if "pair_id" in {*first, *options.columns} or "group" not in {*first, *options.columns}:
            return _pair_lines(file, options, faults)
    if file.kind not in TABLES:
        endings = ", ".join((".json", *TABLES))
        raise BadInput.one(
            str(file.path), f"its name must end in one of {endings}, or that and .gz"
        )
    table = open_table(file, group_tables.WANTED, options)
    rows = read_groups(table.records(faults), faults)
    return _PairsFile(UNVERSIONED, file.sha256, rows, table.notices)


def _release(file: InputFile, faults: Faults) -> _PairsFile:
    content = object_records(file, "pairs", faults)
    version = content.members.get("dataset_version")
    if not isinstance(version, str) or not version.strip():
        faults.add(str(file.path), "dataset_version: a text is needed beside pairs")
    return _PairsFile(str(version), file.sha256, GroupTable(read_pairs(content.records, faults)))


def _pair_lines(file: InputFile, options: TableOptions, faults: Faults) -> _PairsFile:
    if options.columns or options.encoding:
        records = open_table(file, pairs_rows.WANTED, options).records(faults)
    else:
        records = jsonl_records(file, faults)
    versions = {str(r.value["dataset_version"]) for r in records if "dataset_version" in r.value}
    version = "+".join(sorted(versions)) or UNVERSIONED
    return _PairsFile(version, file.sha256, GroupTable(read_pairs(records, faults)))


def _transcripts(source: BenchmarkSource, pairs: _PairsFile, faults: Faults) -> Transcripts | None:
    if source.transcript == "absent":
        if source.consultations is not None:
            faults.add("benchmark.transcript", "absent, but benchmark.consultations is given")
        if pairs.rows.transcripts:
            first = next(iter(pairs.rows.transcripts.values()))
            faults.add(first.where, "transcript: given, but benchmark.transcript says absent")
        return None
    if source.consultations is not None and source.consultations.is_file():
        return _read_consultations(source.consultations, source, faults)
    if source.consultations is None and pairs.rows.transcripts:
        return Transcripts(pairs.rows.transcripts)
    folder = source.consultations or source.pairs.parent / "transcripts"
    if not folder.is_dir():
        message = (
            "no such file or folder"
            if source.consultations
            else ("no such folder; set benchmark.consultations, or benchmark.transcript: absent")
        )
        raise BadInput.one(str(folder), message)
    names = [
        *(r.consultation for r in pairs.rows.pairs),
        *(r.consultation for r in pairs.rows.clean),
    ]
    return from_folder(folder, names, faults, source.table.encoding)


def _read_consultations(path: Path, source: BenchmarkSource, faults: Faults) -> Transcripts:
    file = read_input(path)
    before = len(faults.found)
    table = open_table(file, consultations.WANTED, source.table.second(consultations.NAMES))
    records = table.records(faults)
    complete = len(faults.found) == before
    files = {path.name: file.sha256}
    return Transcripts(from_records(records, faults), files, complete, table.notices)
