"""What `heldout import` does: read a release, write it in a form that loads, and load it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.splits.benchmark import Benchmark
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput
from heldout.splits.importers.aci_bench import read_aci_bench
from heldout.splits.importers.imported import Imported, write_table
from heldout.splits.importers.medec import read_medec
from heldout.splits.importers.omissionbench import read_omissionbench, write_release
from heldout.splits.importers.primock57 import read_primock57
from heldout.splits.loading.benchmark_files import BenchmarkSource, load
from heldout.splits.loading.columns import PLAIN, TableOptions
from heldout.splits.loading.text_files import suggestion

Release = Literal["primock57", "aci-bench", "omissionbench", "medec"]

TABLES: dict[str, Callable[[Path, TableOptions], Imported]] = {
    "aci-bench": read_aci_bench,
    "medec": read_medec,
}
RELEASES = ("primock57", *TABLES, "omissionbench")


@dataclass(frozen=True)
class ImportReport:
    """The files written and what they hold."""

    release: str
    files: tuple[Path, ...]
    benchmark: Benchmark
    notices: tuple[str, ...]

    @property
    def clean_notes(self) -> int:
        """Notes without an error."""
        return sum(len(c.clean) for c in self.benchmark)

    @property
    def pairs(self) -> int:
        """Errored notes."""
        return sum(len(c.errored) for c in self.benchmark)

    def to_json(self) -> dict[str, Any]:
        """Stable keys; `config` is what a campaign's `benchmark` section needs."""
        return {
            "release": self.release,
            "files": [str(file.resolve()) for file in self.files],
            "consultations": len(self.benchmark.consultations),
            "clean_notes": self.clean_notes,
            "pairs": self.pairs,
            "notices": list(self.notices),
            "config": {"benchmark": self._section()},
        }

    @property
    def text(self) -> str:
        """The same for a person."""
        section = [f"  {name}: {value}" for name, value in self._section().items()]
        lines = [
            f"{self.release}: {counted(len(self.benchmark.consultations), 'consultation')}, "
            f"{counted(self.clean_notes, 'clean note')}, {counted(self.pairs, 'pair')}",
            *self.notices,
            "benchmark:",
            *section,
        ]
        if not self.pairs:
            lines.append("no errored notes: for heldout calibrate --clean and heldout apply")
        return "\n".join(lines)

    def _section(self) -> dict[str, str]:
        section = {"pairs": str(self.files[0])}
        if len(self.files) > 1:
            section["consultations"] = str(self.files[1])
        if not self.benchmark.has_transcripts:
            section["transcript"] = "absent"
        return {**section, "clean_means": "unedited"}


def import_release(
    release: str, path: Path, out: Path, options: TableOptions = PLAIN
) -> ImportReport:
    """Read the release at `path` and write it to `out`, which must not exist.

    `options` say what a table of the release is like. Raises BadInput with every fault, before
    anything is written.
    """
    if release not in RELEASES:
        message = f"{release!r} is none of {', '.join(RELEASES)}{suggestion(release, RELEASES)}"
        raise BadInput.one("RELEASE", message)
    if release not in TABLES and options != PLAIN:
        raise BadInput.one(release, "is no table; it takes no options of tables")
    if not path.exists():
        raise BadInput.one(str(path), "no such file or folder")
    if release == "omissionbench":
        found = read_omissionbench(path)
        files = (out, write_release(found.benchmark, out))
        return _report(release, files, found.notices, transcripts=True)
    imported = TABLES[release](path, options) if release in TABLES else read_primock57(path)
    if not imported.notes:
        raise BadInput.one(str(path), f"holds no note to import; {'; '.join(imported.notices)}")
    write_table(imported, out)
    return _report(release, (out,), imported.notices, transcripts=imported.transcripts)


def _report(
    release: str, files: tuple[Path, ...], notices: tuple[str, ...], *, transcripts: bool
) -> ImportReport:
    """Load what was written: a file that a campaign would refuse is no import."""
    source = BenchmarkSource(
        files[0],
        files[1] if len(files) > 1 else None,
        transcript="present" if transcripts else "absent",
    )
    return ImportReport(release, files, load(source), notices)
