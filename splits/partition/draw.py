"""Drawing a partition, and verifying a frozen one against the data at every load.

Splits are sets of consultations, never of rows, and near-duplicate consultations stay together: a
draw keeps each cluster of them in one split. Refusing such data instead would make a person
delete by hand what every corpus with recurring cases holds, and splitting it would let a search
learn held-out text. A manifest that has them apart, drawn elsewhere or edited, is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from heldout.splits.benchmark import Benchmark, Consultation
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput
from heldout.splits.loading.text_files import Faults
from heldout.splits.overlap import NearDuplicate, clusters, near_duplicates
from heldout.splits.partition.manifest import SPLITS, Partition, Shares
from heldout.splits.partition.strata import LEAST, hand_out, sizes, stratum_of

FEW_HELDOUT = 12
"""Held-out consultations under which a report warns."""

LISTED = "listed in partition.exclude"
DUPLICATE = "near-duplicate of an excluded consultation"
NO_PAIR = "has no errored note"


def draw_partition(
    benchmark: Benchmark,
    *,
    seed: int,
    shares: Shares | None = None,
    exclude: Collection[str] = (),
    planned_looks: int = 1,
    files: Mapping[str, str] | None = None,
) -> Partition:
    """A stratified draw of consultations into reflect, accept and held-out.

    The same benchmark, seed and settings give the same partition. `exclude` holds ids, see
    `exclusions`; their near-duplicates, and consultations without an errored note,
    are left out too. `files` are `Loaded.files`. Raises BadInput for too few consultations.
    """
    if planned_looks < 1:
        raise BadInput.one("partition.planned_looks", f"{planned_looks} is less than 1")
    shares = Shares() if shares is None else shares
    groups = clusters(similar_consultations(benchmark))
    excluded = _exclusions(benchmark, groups, frozenset(exclude))
    used = {c.id: c for c in benchmark if c.id not in excluded}
    together = [
        tuple(i for i in group if i in used) for group in groups if used.keys() & set(group)
    ]
    placed = hand_out(
        {name: stratum_of(c) for name, c in used.items()},
        together,
        sizes(len(used), shares),
        seed,
    )
    splits = {
        name: tuple(sorted(i for i, split in placed.items() if split == name)) for name in SPLITS
    }
    _refuse_small("partition", splits, together)
    return Partition(
        benchmark=benchmark.name,
        version=benchmark.version,
        benchmark_sha256=benchmark.digest,
        seed=seed,
        shares=shares,
        planned_looks=planned_looks,
        splits=splits,
        consultations={name: c.digest for name, c in sorted(used.items())},
        files=dict(files or {}),
        excluded=excluded,
        warnings=_warnings(splits, together, excluded),
    )


def verify(
    partition: Partition,
    benchmark: Benchmark,
    *,
    files: Mapping[str, str] | None = None,
    exclude: Collection[str] = (),
    where: str = "partition",
) -> None:
    """Hold a frozen partition against the data it was drawn from.

    Checked: the manifest is unedited; every data file has its recorded SHA-256 (`files` None
    leaves this out); splits are disjoint, complete and large enough; no excluded consultation,
    by the manifest or by `exclude`, is in one; every consultation reads as it did; no
    near-duplicates stand in different splits. Raises BadInput with every fault; `where` names
    the manifest in them.
    """
    faults = Faults()
    if partition.recorded not in (None, partition.sha256):
        faults.add(where, "was edited after it was frozen (its sha256 does not fit its content)")
    if files is not None:
        faults.attempt(check_files, partition, files, where)
    split_of = _disjoint(where, partition, faults)
    _check_complete(where, partition, benchmark, split_of, frozenset(exclude), faults)
    _check_digests(where, partition, benchmark, split_of, faults)
    faults.attempt(_refuse_small, where, partition.splits, ())
    for pair in similar_consultations(benchmark):
        one, two = split_of.get(pair.first), split_of.get(pair.second)
        if one and two and one != two:
            faults.add(
                where,
                f"near-duplicates in different splits: {pair.first} ({one}) and {pair.second} "
                f"({two}) share {pair.similarity:.0%} of their five-word runs",
            )
    faults.raise_any()


def check_files(partition: Partition, files: Mapping[str, str], where: str) -> None:
    """Raise BadInput naming each data file that is not the one the partition was drawn from.

    A renamed copy is the same data: what counts is that every recorded digest is present.
    """
    faults = Faults()
    recorded = partition.files
    for name, digest in recorded.items():
        if name in files and files[name] != digest:
            faults.add(name, f"changed since {where} was frozen")
        elif name not in files and digest not in files.values():
            faults.add(name, f"recorded in {where}, but not among the files read")
    for name, digest in files.items():
        if name not in recorded and digest not in recorded.values():
            faults.add(name, f"not among the files {where} was drawn from")
    faults.raise_any()


def check_consultations(
    partition: Partition, consultations: Iterable[Consultation], where: str
) -> None:
    """Raise BadInput naming each of `consultations` that changed since it was frozen."""
    faults = Faults()
    for consultation in consultations:
        if partition.consultations.get(consultation.id) != consultation.digest:
            message = f"consultation {consultation.id} reads differently than when it was frozen"
            faults.add(where, message)
    faults.raise_any()


def similar_consultations(benchmark: Benchmark) -> tuple[NearDuplicate, ...]:
    """Near-duplicates by transcript, or by clean notes where the benchmark has no transcripts."""
    if benchmark.has_transcripts:
        return near_duplicates((c.id, c.transcript) for c in benchmark)
    return near_duplicates((c.id, note.text) for c in benchmark for note in c.clean)


def _exclusions(
    benchmark: Benchmark, groups: Iterable[tuple[str, ...]], listed: frozenset[str]
) -> dict[str, str]:
    found = {c.id: NO_PAIR for c in benchmark if not c.errored}
    for group in groups:
        if listed & set(group):
            found.update(dict.fromkeys(group, DUPLICATE))
    found.update({c.id: LISTED for c in benchmark if c.id in listed})
    return dict(sorted(found.items()))


def _refuse_small(
    where: str, splits: Mapping[str, Collection[str]], together: Iterable[Collection[str]]
) -> None:
    faults = Faults()
    for name, least in LEAST.items():
        if len(splits[name]) < least:
            groups = "; ".join(", ".join(group) for group in together)
            cause = f" (near-duplicates that must stay together: {groups})" if groups else ""
            found = len(splits[name])
            faults.add(
                where, f"{name} holds {counted(found, 'consultation')}, at least {least}{cause}"
            )
    faults.raise_any()


def _warnings(
    splits: Mapping[str, Collection[str]],
    together: Iterable[Collection[str]],
    excluded: Mapping[str, str],
) -> tuple[str, ...]:
    warnings = []
    if len(splits["heldout"]) < FEW_HELDOUT:
        warnings.append(
            f"{len(splits['heldout'])} held-out consultations resolve little; "
            f"{FEW_HELDOUT} or more are advised"
        )
    warnings.extend(f"near-duplicates kept together: {', '.join(group)}" for group in together)
    for reason in (DUPLICATE, NO_PAIR):
        names = [name for name, why in excluded.items() if why == reason]
        if names:
            warnings.append(f"in no split ({reason}): {', '.join(names)}")
    return tuple(warnings)


def _disjoint(where: str, partition: Partition, faults: Faults) -> dict[str, str]:
    split_of: dict[str, str] = {}
    for split in SPLITS:
        for name in partition.splits[split]:
            if name in split_of:
                faults.add(where, f"{name} stands in {split_of[name]} and in {split}")
            split_of.setdefault(name, split)
    return split_of


def _check_complete(
    where: str,
    partition: Partition,
    benchmark: Benchmark,
    split_of: Mapping[str, str],
    exclude: frozenset[str],
    faults: Faults,
) -> None:
    for name in sorted(benchmark.by_id.keys() - split_of.keys() - partition.excluded.keys()):
        faults.add(where, f"{name} of the benchmark is in no split and not excluded")
    for name in sorted(split_of.keys() - benchmark.by_id.keys()):
        faults.add(where, f"{name} ({split_of[name]}) is not in the benchmark")
    for name in sorted(split_of.keys() & (partition.excluded.keys() | exclude)):
        faults.add(where, f"{name} is excluded, yet stands in {split_of[name]}")


def _check_digests(
    where: str,
    partition: Partition,
    benchmark: Benchmark,
    split_of: Mapping[str, str],
    faults: Faults,
) -> None:
    shared = sorted(split_of.keys() & benchmark.by_id.keys())
    consultations = [benchmark.by_id[name] for name in shared]
    faults.attempt(check_consultations, partition, consultations, where)
    if partition.version != benchmark.version:
        found = f"{benchmark.version!r}, not {partition.version!r}"
        faults.add(where, f"the benchmark's version is {found}")
