"""`heldout looks`: every look at the held-out set of a manifest, by whom and with what result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_data import data_of
from heldout.experiments.runs.run_directory import FAMILY_FILE, existing_run, read_family
from heldout.gepa.gate.decision import FamilyMember
from heldout.gepa.record.run import Run
from heldout.splits.heldout.looks import Look, LookKind
from heldout.splits.heldout.looks_file import Buyer, HeldoutSet, LooksFile
from heldout.splits.heldout.registry import LooksRegistry, registry_path
from heldout.splits.heldout.vault import looks_file
from heldout.splits.partition.manifest import Partition, read_manifest


@dataclass(frozen=True)
class LookRow:
    """One look, as `--json` prints it; `model` is None where the look does not name it."""

    look: str
    run: str
    kind: LookKind
    target: str
    model: str | None
    simulated: bool
    block_sha256: str
    opened_at: str
    closed: bool
    exploratory: bool
    decision: str | None
    figures: Mapping[str, float | None]

    @classmethod
    def of(cls, look: Look) -> LookRow:
        """The row of a look on record."""
        model = look.settings.get("model")
        return cls(
            look=look.id,
            run=look.run,
            kind=look.kind,
            target=look.target,
            model=model,
            simulated=str(model).startswith("sim/"),
            block_sha256=look.block_sha256,
            opened_at=look.opened_at,
            closed=look.result is not None,
            exploratory=look.exploratory,
            decision=look.result.decision if look.result else None,
            figures=dict(look.result.figures) if look.result else {},
        )

    def __str__(self) -> str:
        state = "closed" if self.closed else "opened"
        mark = " (exploratory)" if self.exploratory else ""
        decision = f" · {self.decision}" if self.decision else ""
        figures = "".join(f" · {k} {v:.3f}" for k, v in self.figures.items() if v is not None)
        return (
            f"{self.opened_at} · {self.kind:<8} · {self.run} · "
            f"{self.model or 'model unknown'}{' (simulated)' if self.simulated else ''} · "
            f"block {self.block_sha256[:12]} · {state}{mark}{decision}{figures}"
        )


@dataclass(frozen=True)
class LookTable:
    """All looks of a manifest, in order of opening."""

    manifest: str
    planned_looks: int
    looks: tuple[LookRow, ...]
    family: tuple[FamilyMember, ...] = ()
    """The targets that were decided together, where the looks are those of a family."""
    seen_before: tuple[str, ...] = ()
    """What was done with the held-out consultations by other manifests."""

    def __str__(self) -> str:
        counted = sum(look.kind is not LookKind.BASELINE for look in self.looks)
        head = f"{self.planned_looks} planned, {counted} opened, baselines counted apart"
        family = (f"family · {member}" for member in self.family)
        return "\n".join([head, *self.seen_before, *map(str, self.looks), *family])


def look_table(source: Path) -> LookTable:
    """The looks at the held-out set of a manifest, of a run, or of the folder of a family.

    Raises BadInput where there is none, and where the chain of the looks breaks.
    """
    manifest, partition, file = _looked_up(source)
    return LookTable(
        str(manifest.resolve()),
        partition.planned_looks,
        tuple(map(LookRow.of, file.looks())),
        _family_of(source),
        file.seen(Buyer("")).sentences,
    )


def _looked_up(source: Path) -> tuple[Path, Partition, LooksFile]:
    """The manifest that `source` is, or that its run goes by; members of a family share one."""
    if not source.is_dir():
        partition = read_manifest(source)
        beside = HeldoutSet(LooksRegistry(registry_path(None, source)), ())
        return source, partition, LooksFile.beside(source, partition, beside)
    if (source / FAMILY_FILE).is_file():
        source = source / read_family(source).members[0]
    run = existing_run(source)
    data = data_of(load_config(run.config, stored=True), run)
    partition = read_manifest(data.manifest)
    if data.registry is None:  # a drawn benchmark is known by its manifest alone
        return data.manifest, partition, LooksFile.beside(data.manifest, partition)
    file = looks_file(data.manifest, partition, data.load().benchmark, data.registry)
    return data.manifest, partition, file


def _family_of(source: Path) -> tuple[FamilyMember, ...]:
    """The family of a run, of a folder of runs, or of the runs beside a manifest."""
    folder = source if source.is_dir() else source.parent
    if (folder / FAMILY_FILE).is_file():
        folder = folder / read_family(folder).members[0]
    journal = folder / "journal.jsonl"
    return Run.at(folder).family if journal.is_file() else ()
