"""Does room to reason change what a search finds, and what a block is worth? On simulated models.

Run with `python -m tests.benchmarks.budgets [--seeds N]`. It prints the tables of
docs/budgets.md as Markdown:

- searches of `configs/larger_budget.yaml` at a small and at a large budget, one a seed, each on a
  synthetic benchmark of its own: does the winner ask for an inventory, was it emitted, and what do
  blocks of the small search do at larger budgets (the budget probe)?
- the ladder of a block that asks for an inventory and of one that asks for as much without it, on
  a synthetic benchmark that no search has seen.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions
from heldout.experiments.practice.budget_probe import budget_probe
from heldout.experiments.practice.ladder import Ladder
from heldout.experiments.practice.loaded_prompt import from_run, load_prompt
from heldout.experiments.practice.note_rows import NoteFile
from heldout.experiments.practice.rerun import rerun
from heldout.experiments.practice.rungs import Rung
from heldout.experiments.practice.session import JudgeOptions
from heldout.experiments.report.words import interval_text
from heldout.gepa.candidates import Origin
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.splits.synthetic import draw, write_jsonl
from heldout.students.models.chat import Budget
from heldout.students.simulated.skills import Skill, read_block

CONFIG = Path("configs/larger_budget.yaml")
SMALL, LARGE = Budget(450, "none"), Budget(4000, "high")
PROBES = (Rung(Budget(1500, "medium")), Rung(LARGE))
RUNGS = tuple(
    Rung(Budget(cap, effort))
    for effort, cap in (
        ("none", 450), ("none", 1024), ("low", 1024), ("medium", 1500), ("medium", 2500),
        ("high", 4000),
    )
)  # fmt: skip
INVENTORY = (
    "First list every relevant fact of the conversation; only then check each one in the note, one "
    "at a time. Give the score with one decimal, so that a single gap shows."
)
PLAIN = (
    "Read the transcript with care and then the note. Compare every number, dose and side in the "
    "note with what was said. Give the score with one decimal, so that a single gap shows."
)
CONSULTATIONS, BENCHMARK_SEED = 96, 2024


@dataclass(frozen=True)
class Searched:
    """What one search ended in; figures are held-out paired omissions, None where not bought."""

    inventory: bool
    decision: str
    baseline: float | None
    winner: float | None
    proposed_inventory: int
    probe_changes: bool


def search(seed: int, budget: Budget, folder: Path) -> Searched:
    """One campaign at `budget`, and the probe of its blocks at larger ones."""
    settings = [
        f"seed={seed}",
        f"student.budget.max_tokens={budget.max_tokens}",
        f"student.budget.reasoning_effort={budget.reasoning_effort}",
        "tracking.enabled=false",
    ]
    folder = folder / f"{budget.max_tokens}-{seed}"
    run = start(prepare(CONFIG, settings, folder), folder, RunOptions(quiet=True)).run
    probe = budget_probe(load_prompt(str(folder)), PROBES, JudgeOptions(seed=seed))
    blocks = [c.block or "" for c in run.candidates.values() if c.kind is not Origin.SEED]
    assert run.winner is not None
    return Searched(
        inventory=Skill.INVENTORY in read_block(run.candidates[run.winner.id].block or ""),
        decision=str(run.decision),
        baseline=run.heldout.baseline.paired_omissions if run.heldout else None,
        winner=run.heldout.winner.paired_omissions if run.heldout else None,
        proposed_inventory=sum(Skill.INVENTORY in read_block(block) for block in blocks),
        probe_changes=bool(probe.changes),
    )


def ladder(folder: Path, run: Path, replicates: int) -> Ladder:
    """The inventory block beside the one without, on notes that no search has seen."""
    pairs, consultations = folder / "fresh.jsonl", folder / "fresh.consultations.jsonl"
    write_jsonl(draw(CONSULTATIONS, BENCHMARK_SEED), pairs, consultations)
    prompt = from_run(run, "plain")
    report = rerun(
        replace(prompt, name="inventory", block=INVENTORY),
        RUNGS,
        NoteFile(pairs, consultations),
        JudgeOptions(seed=11),
        control=replace(prompt, name="no inventory", block=PLAIN),
        out=folder / "ladder",
        replicates=replicates,
    )
    return report.ladder


def searches_table(rows: Mapping[str, Sequence[Searched]]) -> str:
    """Both budgets, a row each."""
    lines = [
        "| budget of the search | inventory proposed | inventory in the winner | emitted | "
        "held-out paired omissions, winner (where bought) | probe finds another leader |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in rows.items():
        n = len(found)
        bought = [s.winner for s in found if s.winner is not None]
        mean = f"{sum(bought) / len(bought):.3f} (n = {len(bought)})" if bought else "–"
        lines.append(
            f"| {name} | {sum(s.proposed_inventory > 0 for s in found)} of {n} | "
            f"{sum(s.inventory for s in found)} of {n} | "
            f"{sum(s.decision == 'emitted' for s in found)} of {n} | {mean} | "
            f"{sum(s.probe_changes for s in found)} of {n} |"
        )
    return "\n".join(lines)


def ladder_table(found: Ladder) -> str:
    """Rung by rung, as little of the ladder as the argument needs."""
    lines = [
        "| rung | inventory | since the first rung | no inventory | since the first rung | "
        "inventory minus no inventory | tokens written |",
        "|---|---|---|---|---|---|---|",
    ]
    for step in found.steps:
        first = step is found.steps[0]
        cells = [
            step.rung.name,
            _interval(step.block.paired("omission")),
            "–" if first else _interval(found.since_first("block", step, "omission"), sign=True),
            _interval(step.control.paired("omission")),
            "–" if first else _interval(found.since_first("control", step, "omission"), sign=True),
            _interval(found.beside_control(step, "omission"), sign=True),
            "–" if step.block.cost is None else f"{step.block.cost.completion_tokens:.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _interval(interval: Interval | None, *, sign: bool = False) -> str:
    return interval_text(interval, sign)


def main() -> None:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--replicates", type=int, default=3)
    parser.add_argument("--figure", type=Path, help="where to write the ladder's SVG")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = {
            f"{b.max_tokens} tokens, effort {b.reasoning_effort}": [
                search(seed, b, folder) for seed in range(1, options.seeds + 1)
            ]
            for b in (SMALL, LARGE)
        }
        found = ladder(folder, folder / f"{LARGE.max_tokens}-1", options.replicates)
        print(searches_table(rows), ladder_table(found), sep="\n\n")
        if options.figure:
            options.figure.write_bytes((folder / "ladder" / "ladder.svg").read_bytes())


if __name__ == "__main__":
    main()
