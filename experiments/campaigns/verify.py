"""`heldout verify`: does a run hold together? The first thing that does not is named."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import RunDirectory, existing_run
from heldout.gepa.record.codec import plain
from heldout.gepa.record.run import Run
from heldout.splits.errors import HeldoutError, JournalBroken
from heldout.splits.hashing import sha256_file
from heldout.splits.heldout.looks_file import LooksFile
from heldout.splits.partition.manifest import read_manifest
from heldout.students.calls.transfer import read_rows


@dataclass(frozen=True)
class Verified:
    """What was checked, and the first fault found or None."""

    run: str
    events: int
    checked: tuple[str, ...]
    fault: str | None

    @property
    def exit_status(self) -> int:
        """0 when everything holds, 1 for a fault."""
        return 0 if self.fault is None else 1

    @property
    def text(self) -> str:
        """For a person."""
        if self.fault:
            return self.fault
        return f"{self.run}: {self.events} events hold together ({', '.join(self.checked)})"

    def to_json(self) -> dict[str, Any]:
        """`{run_dir, ok, events, checked, fault}`."""
        return {
            "run_dir": self.run,
            "ok": self.fault is None,
            "events": self.events,
            "checked": list(self.checked),
            "fault": self.fault,
        }


def verify_run(path: Path) -> Verified:
    """Check journal chain, lineage hash, stored calls, gate file, emitted files and looks."""
    run = existing_run(path)
    checked: list[str] = []
    try:
        so_far = Run.at(run.path)
    except JournalBroken as broken:
        return Verified(str(run.path), broken.line - 1, ("chain",), str(broken))
    checked.append("chain")
    checks = (
        ("lineage", _lineage),
        ("calls", _calls),
        ("gate", _gate),
        ("emission", _emission),
        ("looks", _looks),
    )
    for name, check in checks:
        fault = check(run, so_far)
        checked.append(name)
        if fault:
            return Verified(str(run.path), len(so_far.events), tuple(checked), fault)
    return Verified(str(run.path), len(so_far.events), tuple(checked), None)


def _lineage(run: RunDirectory, so_far: Run) -> str | None:
    finished = so_far.finished
    if finished is None or finished.lineage_sha256 == so_far.lineage_sha256:
        return None
    return f"{run.journal}: the lineage hash on record is not that of the events"


def _calls(run: RunDirectory, so_far: Run) -> str | None:
    """The default store is there and holds no fewer calls than the journal settled."""
    settled = sum(evaluation.spent.calls for evaluation in so_far.evaluations)
    if not settled or load_config(run.config, stored=True).store.url is not None:
        return None
    if not run.store.is_file():
        return f"{run.store}: is missing, and with it the calls behind every score"
    held = sum(1 for _ in read_rows(f"sqlite:///{run.store}"))
    if held < settled:
        return f"{run.store}: holds {held} calls, the journal settled {settled}"
    return None


def _gate(run: RunDirectory, so_far: Run) -> str | None:
    """`gate.json` says what the journal says."""
    if so_far.gate is None:
        return None
    try:
        written = json.loads(run.gate.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"{run.gate}: cannot be read ({error})"
    same = _without_nulls(written) == _without_nulls(plain(so_far.gate))
    return None if same else f"{run.gate}: says something else than the journal"


def _without_nulls(said: Any) -> Any:
    """Versions differ in whether they write a key that has no value."""
    if not isinstance(said, dict):
        return said
    return {key: value for key, value in said.items() if value is not None}


def _emission(run: RunDirectory, so_far: Run) -> str | None:
    """Emitted files are there with their hashes; without an emission there is no prompt file."""
    emission = so_far.emission
    folder = run.path / "prompts"
    if emission is None:
        found = sorted(folder.iterdir()) if folder.is_dir() else []
        return f"{found[0]}: stands there although nothing was emitted" if found else None
    for file, digest in (
        (emission.prompt_file, emission.prompt_sha256),
        (emission.card_file, emission.card_sha256),
    ):
        path = run.path / file
        if not path.is_file():
            return f"{path}: is missing"
        if sha256_file(path) != digest:
            return f"{path}: was changed after it was emitted"
    return None


def _looks(run: RunDirectory, so_far: Run) -> str | None:
    """The looks file beside the run's own manifest holds together and has this run's looks."""
    if so_far.partition is None:
        return None
    manifest = load_config(run.config, stored=True).partition.manifest or run.manifest
    if not manifest.exists():
        return f"{manifest}: is missing, and with it the record of looks"
    try:
        looks = LooksFile.beside(manifest, read_manifest(manifest))
        looks.verify()
        known = {look.id for look in looks.looks()}
    except HeldoutError as error:
        return str(error)
    missing = [event.look for event in so_far.looks if event.look not in known]
    return f"{looks.path}: look {missing[0]} of the journal is not in it" if missing else None
