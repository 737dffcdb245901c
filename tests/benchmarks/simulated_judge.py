"""What the simulated judge can do, block by block and budget by budget: the tables of the docs.

Run as `python -m tests.benchmarks.simulated_judge`. Figures are paired discrimination
at temperature 0, so that nothing but block and budget moves them. With HELDOUT_DATA set the real
pairs are judged too. Everything printed is simulated.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.simulated_runs import Direct

from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.statistics.selection import rows_of
from heldout.gepa.statistics.table import BoolArray, ScoreTable
from heldout.splits.benchmark import Benchmark, NoteClass, TraceLevel
from heldout.splits.loading.benchmark_files import BenchmarkSource, load
from heldout.splits.synthetic import draw
from heldout.students.designs.checker import PerFactChecker
from heldout.students.designs.facts import Extraction
from heldout.students.designs.whole_note import WholeNoteJudge
from heldout.students.frames import load_frame
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.simulated import JUDGE_ID, PLACEBO_ID, SimulatedJudge, SimulatedPlacebo
from heldout.students.student import Student

PLAIN = "Judge how faithful and complete the note is."
CHECK_PLAIN = "For each fact in the list, decide whether the note records it."
SENTENCES = {
    "inventory": "First list every fact of the transcript, then look for each one in the note.",
    "fine score": "Give the score with one decimal.",
    "values": "Compare every dose, number, duration and side exactly.",
    "paraphrase": "A paraphrase counts as captured.",
    "partial": "A fragment is not full capture.",
    "placement": "A restatement elsewhere does not make up for a gap in the proper section.",
    "polarity": "Compare negatives and denials with the transcript.",
    "unsupported": "Look for statements of the note without support in the transcript.",
}
WHOLE_NOTE = (
    (),
    ("values",),
    ("unsupported", "values", "polarity", "fine score"),
    ("inventory",),
    ("inventory", "fine score"),
    ("inventory", "fine score", "values"),
    ("inventory", "fine score", "paraphrase"),
    ("inventory", "fine score", "paraphrase", "partial"),
    ("inventory", "fine score", "paraphrase", "partial", "placement"),
    tuple(SENTENCES),
)
CHECKER = (
    (),
    ("paraphrase",),
    ("paraphrase", "values"),
    ("paraphrase", "partial"),
    ("paraphrase", "placement"),
    ("paraphrase", "polarity"),
    ("paraphrase", "values", "partial", "placement", "polarity"),
)
COLUMNS = (
    "omissions",
    "complete",
    "partial-weak",
    "partial-strong",
    "commissions",
    "add",
    "change",
)


@dataclass(frozen=True)
class Row:
    """One block at one budget; figures in the order of `COLUMNS`, None without a pair."""

    skills: tuple[str, ...]
    max_tokens: int
    figures: tuple[float | None, ...]

    def line(self) -> str:
        """The row of a Markdown table."""
        cells = ["—" if value is None else f"{value:.2f}".lstrip("0") for value in self.figures]
        name = " + ".join(self.skills) or "plain"
        name = "all skills" if len(self.skills) == len(SENTENCES) else name
        return f"| {name} | {self.max_tokens:,} | {' | '.join(cells)} |"


def block_of(skills: Iterable[str], opening: str) -> str:
    """`opening` followed by one sentence a skill."""
    return " ".join([opening, *(SENTENCES[skill] for skill in skills)])


def whole_note(factor: float = 1.0) -> WholeNoteJudge:
    """The whole-note judge on `sim/judge` at temperature 0, its effects scaled by `factor`."""
    pin = ModelPin(JUDGE_ID, 0.0, {"effect": factor})
    return WholeNoteJudge(load_frame("whole_note"), pin, Direct(SimulatedJudge()), run_seed=1)


def checker() -> PerFactChecker:
    """The per-fact checker on `sim/judge` at temperature 0; extraction has a budget of its own."""
    pin, caller = ModelPin(JUDGE_ID, 0.0), Direct(SimulatedJudge())
    source = Extraction(load_frame("extract"), pin, caller, Budget(8_000))
    return PerFactChecker(load_frame("check"), pin, caller, 1, source)


def table_of(student: Student, block: str, benchmark: Benchmark, budget: Budget) -> ScoreTable:
    """Scores of `block` on every note of `benchmark`."""
    notes = [note for consultation in benchmark for note in consultation.notes]

    async def scores() -> list[float | None]:
        return [(await student.judge(block, note, budget, 0)).score for note in notes]

    return ScoreTable(tuple(note.label for note in notes), tuple(asyncio.run(scores())))


def figures(table: ScoreTable) -> tuple[float | None, ...]:
    """Paired discrimination in the order of `COLUMNS`."""
    labels = table.labels
    omission, commission = rows_of(table, "omission"), rows_of(table, "commission")
    traces = [_where([label.trace is level for label in labels], omission) for level in TraceLevel]
    kinds = [
        _where([label.note_class is kind for label in labels], commission)
        for kind in (NoteClass.ADD, NoteClass.CHANGE)
    ]
    return tuple(paired(table, rows).value for rows in (omission, *traces, commission, *kinds))


def _where(chosen: Sequence[bool], among: BoolArray) -> BoolArray:
    rows = among.copy()
    rows &= chosen
    return rows


def rows(
    student: Student,
    blocks: Sequence[tuple[str, ...]],
    opening: str,
    benchmark: Benchmark,
    budgets: Sequence[int],
) -> list[Row]:
    """Every block at every budget."""
    return [
        Row(
            skills,
            tokens,
            figures(table_of(student, block_of(skills, opening), benchmark, Budget(tokens))),
        )
        for skills in blocks
        for tokens in budgets
    ]


def placebo_spread(benchmark: Benchmark, runs: int) -> list[float]:
    """Paired omissions of the placebo under `runs` blocks that differ in one word."""
    pin = ModelPin(PLACEBO_ID, 0.0)
    student = WholeNoteJudge(load_frame("whole_note"), pin, Direct(SimulatedPlacebo()), 1)
    values = [
        paired(table_of(student, f"{PLAIN} ({run})", benchmark, Budget(1_500))).value
        for run in range(runs)
    ]
    return [value for value in values if value is not None]


def real_pairs() -> Benchmark | None:
    """The real pairs, None without HELDOUT_DATA."""
    folder = os.environ.get("HELDOUT_DATA")
    if not folder:
        return None
    return load(
        BenchmarkSource(
            Path(folder) / "real_pairs.jsonl.gz", Path(folder) / "consultations.jsonl.gz"
        )
    )


def _print(title: str, found: Sequence[Row]) -> None:
    print(f"\n{title} (simulated)\n\n| block | tokens | {' | '.join(COLUMNS)} |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for row in found:
        print(row.line())


def _report(name: str, benchmark: Benchmark, budgets: Sequence[int]) -> None:
    started = time.process_time()
    _print(f"Whole-note judge, {name}", rows(whole_note(), WHOLE_NOTE, PLAIN, benchmark, budgets))
    _print(f"Per-fact checker, {name}", rows(checker(), CHECKER, CHECK_PLAIN, benchmark, budgets))
    for factor in (0.0, 0.5, 2.0):
        chosen = (WHOLE_NOTE[0], WHOLE_NOTE[3], WHOLE_NOTE[7], WHOLE_NOTE[-1])
        found = rows(whole_note(factor), chosen, PLAIN, benchmark, (1_500,))
        _print(f"Whole-note judge at effect {factor:g}, {name}", found)
    spread = placebo_spread(benchmark, 20)
    pairs = sum(n.label.note_class.is_omission for c in benchmark for n in c.errored)
    print(
        f"\nPlacebo, {name}: paired omissions {min(spread):.3f} to {max(spread):.3f} over "
        f"{len(spread)} blocks, {pairs} pairs (simulated)"
    )
    print(f"{time.process_time() - started:.1f} s CPU")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--consultations", type=int, default=120)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--budgets", default="400,600,1000,1500,2500,4000")
    options = parser.parse_args()
    budgets = [int(text) for text in options.budgets.split(",")]
    _report("synthetic", draw(options.consultations, options.seed).benchmark, budgets)
    real = real_pairs()
    if real is None:
        print("\nHELDOUT_DATA is not set: the real pairs are left out")
    else:
        _report("real pairs", real, budgets)


if __name__ == "__main__":
    main()
