"""The jobs of a soak: each one small, named, and a pure function of its name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.soak import networked, odd_bodies, tables
from tests.soak.killing import kill_and_resume
from tests.soak.repeating import lineage_under

from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions, SessionResult
from heldout.gepa.candidates import Origin
from heldout.gepa.record.codec import plain
from heldout.reflectors.reflector import RejectReason
from heldout.students.simulated.skills import Skill, read_block

EFFECTS = (0.0, 0.5, 1.0, 2.0)
EMISSION_SEEDS = range(1001, 1031)
"""Seeds that no trial run has seen: the table of effects was looked at with others."""
PLACEBO_SEEDS = range(2001, 2201)
KILLS = range(25)
NETWORKED: Mapping[str, tuple[Callable[..., dict[str, Any]], range]] = {
    "network_faults": (networked.faults, range(5)),
    "network_odd": (partial(networked.odd, scale=networked.SMALLER), range(4)),
    "odd_replies": (odd_bodies.generated, range(10)),
    "odd_memory": (odd_bodies.memory, range(2)),
    "network_kill": (partial(networked.kill, scale=networked.SMALLER), range(50)),
    "network_outage": (partial(networked.outage, scale=networked.SMALLER), range(10)),
    "network_cap": (partial(networked.cap, scale=networked.SMALLER), range(10)),
    "network_wall": (partial(networked.wall, scale=networked.SMALLER), range(8)),
}
"""Campaigns over a network that misbehaves, and how many of each; the first at full size."""
TABLES = range(10)
"""Jobs of thirty malformed tables each."""
GUARDED: tuple[tuple[str, int], ...] = (
    ("ranks_only.yaml", 11),
    ("ranks_only.yaml", 21),
    ("larger_budget.yaml", 11),
    ("real_notes.yaml", 11),
    ("real_notes.yaml", 12),
    ("real_notes.yaml", 13),
    ("study/exploratory.yaml", 101),
    ("study/second.yaml", 102),
    ("study/confirmatory_checker.yaml", 103),
    ("study/confirmatory_whole_note.yaml", 103),
)
"""Shipped configurations and seeds whose proposed blocks the guard should let pass."""
CONDITIONS: tuple[Mapping[str, str], ...] = (
    {"concurrency": "1", "hash_seed": "1", "threads": "1"},
    {"concurrency": "4", "hash_seed": "1", "threads": "2"},
    {"concurrency": "16", "hash_seed": "2", "threads": "1"},
    {"concurrency": "16", "hash_seed": "2", "threads": "2"},
)


@dataclass(frozen=True, slots=True)
class Job:
    """One job: what it counts towards, its parameters, its name (also of its result file)."""

    count: str
    parameters: Mapping[str, Any]

    @property
    def name(self) -> str:
        """File-safe name."""
        parts = [f"{key}={value}" for key, value in self.parameters.items()]
        return "_".join([self.count, *parts]).replace("/", "-")


def all_jobs() -> Iterator[Job]:
    """Every job of the soak, cheap counts first."""
    yield from (Job("determinism", condition) for condition in CONDITIONS)
    yield from (Job("malformed_tables", {"number": number}) for number in TABLES)
    yield from (
        Job("guard", {"config": config, "seed": seed})
        for config, seed in GUARDED
        if config != "real_notes.yaml" or "HELDOUT_DATA" in os.environ
    )
    yield from (Job("kill", {"number": number}) for number in KILLS)
    for count, (_, numbers) in NETWORKED.items():
        yield from (Job(count, {"number": number}) for number in numbers)
    for effect in EFFECTS:
        yield from (Job("emission", {"effect": effect, "seed": seed}) for seed in EMISSION_SEEDS)
    yield from (Job("placebo", {"seed": seed}) for seed in PLACEBO_SEEDS)


def perform(job: Job) -> dict[str, Any]:
    """Do one job in this process; its result as plain JSON values."""
    with tempfile.TemporaryDirectory() as folder:
        # Jobs run the same notes again and again; each knows of its own looks alone.
        os.environ["HELDOUT_LOOKS"] = str(Path(folder) / "looks.jsonl")
        if job.count in NETWORKED:
            return NETWORKED[job.count][0](Path(folder), **job.parameters)
        match job.count:
            case "malformed_tables":
                return tables.malformed(Path(folder), **job.parameters)
            case "emission":
                return emission(Path(folder), **job.parameters)
            case "placebo":
                return placebo(Path(folder), **job.parameters)
            case "guard":
                return guarded(Path(folder), **job.parameters)
            case "determinism":
                return lineage_under(Path(folder), **job.parameters)
            case "kill":
                return kill_and_resume(Path(folder), **job.parameters)
    raise ValueError(f"no such count: {job.count}")


def campaign(folder: Path, config: str, settings: list[str]) -> SessionResult:
    """A shipped configuration run without tracking or progress."""
    run = folder / "run"
    checked = prepare(Path("configs") / config, [*settings, "tracking.enabled=false"], run)
    return start(checked, run, RunOptions(quiet=True))


def emission(folder: Path, effect: float, seed: int) -> dict[str, Any]:
    """Does ranks_only.yaml emit at this simulated effect?"""
    settings = [f"seed={seed}", f"student.parameters.effect={effect}"]
    run = campaign(folder, "ranks_only.yaml", settings).run
    assert run.winner is not None  # a finished campaign has a winner
    block = run.candidates[run.winner.id].block or ""
    seeds = [c.block for c in run.candidates.values() if c.kind is Origin.SEED]
    return {
        "decision": run.decision,
        "reason": run.reason,
        "difference": run.heldout and plain(run.heldout.difference),
        "accept": run.winner.accept.winner.paired_omissions,
        "baseline": run.winner.accept.baseline.paired_omissions,
        "inventory": Skill.INVENTORY in read_block(block),
        "own_wording": block not in seeds,
        "wall_s": run.budget.wall_s,
        "lineage_sha256": run.lineage_sha256,
    }


def placebo(folder: Path, seed: int) -> dict[str, Any]:
    """What every rule says of a winner that differs from its baseline by noise alone."""
    gate = campaign(folder, "placebo.yaml", [f"seed={seed}", "gate.pre_gate=off"]).run.gate
    assert gate is not None  # a finished campaign has a decision
    return {
        "decision": gate.decision,
        "reason": gate.reason,
        "ships": {verdict.rule: verdict.ships for verdict in gate.verdicts},
    }


def guarded(folder: Path, config: str, seed: int) -> dict[str, Any]:
    """How many proposed blocks does the guard reject for clinical text, no leak being planted?

    `copied`: for a run of eight words, the one ground there was at first. `anew`: for short pieces
    that add up, or for an identifier.
    """
    run = campaign(folder, config, [f"seed={seed}"]).run
    proposals = [c for c in run.candidates.values() if c.kind is not Origin.SEED and c.length]
    held = [c for c in proposals if c.reason in (RejectReason.OVERLAP, RejectReason.IDENTIFIER)]
    copied = [c for c in held if (c.detail or "").startswith("run of")]
    return {
        "blocks": len(proposals),
        "copied": len(copied),
        "anew": len(held) - len(copied),
        "details": [c.detail for c in held],
    }
