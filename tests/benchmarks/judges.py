"""The tables of `docs/judges.md`: the whole roster on made and on real notes, and starved budgets.

Run as `python -m tests.benchmarks.judges [docs/judges.md]`. With a file, the tables
between its markers are replaced; without, they are printed. The judge is simulated. The real pairs
are those of the folder named by HELDOUT_DATA; without it their table is left as it is.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from heldout.experiments.judging.roster import DesignResult, JudgeSettings, NoteSet, judge_roster
from heldout.experiments.judging.table import to_markdown
from heldout.splits.benchmark import Benchmark
from heldout.splits.loading.benchmark_files import BenchmarkSource, load
from heldout.splits.synthetic import draw
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.store import CallStore
from heldout.students.designs.context import Roles
from heldout.students.designs.roster import DESIGNS, ROSTER, Design
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.simulated import JUDGE_ID, SimulatedJudge

PIN = ModelPin(JUDGE_ID, 0.7, {}, 0.0, 0.0, 0.0)
SEED = 11
MADE_CONSULTATIONS, MADE_SEED = 48, 7
MADE_TOKENS, REAL_TOKENS = 1500, 4000
STARVED = (400, 600, 1000, 1500, 2500)
INVENTORY = (
    "Before you read the note, list every fact of the transcript. Then look up each of them in the "
    "note, one after the other. Give the score with one decimal."
)
FINE = "Read the transcript and then the note. Give the score with one decimal."


def judged(
    notes: NoteSet,
    tokens: int,
    designs: Sequence[Design] = ROSTER,
    *,
    replicates: int = 1,
    blocks: Mapping[str, str] | None = None,
) -> list[DesignResult]:
    """The designs on `notes` by the simulated judge, from an empty store."""
    settings = JudgeSettings(Roles.all(PIN), Budget(tokens), SEED, replicates)
    store = CallStore("sqlite://", "judges")
    caller = Caller({JUDGE_ID: SimulatedJudge()}, store, Ledger(Caps()), concurrency=8)
    with asyncio.Runner() as runner:
        try:
            return judge_roster(designs, notes, settings, caller, runner, blocks)
        finally:
            store.close()


def made_notes(consultations: int = MADE_CONSULTATIONS, seed: int = MADE_SEED) -> NoteSet:
    """Notes of the synthetic benchmark."""
    name = f"{consultations} made consultations (seed {seed})"
    return _note_set(name, draw(consultations, seed).benchmark)


def real_notes(data: Path) -> NoteSet:
    """The real pairs in the folder `data`."""
    source = BenchmarkSource(data / "real_pairs.jsonl.gz", data / "consultations.jsonl.gz")
    return _note_set("41 real consultations, mechanical pairs, unedited notes", load(source))


def starved_table(notes: NoteSet) -> str:
    """Paired omissions of the whole-note judge, with and without an inventory, by token budget."""
    rows = [f"| tokens | {' | '.join(map(str, STARVED))} |", "| --- |" + " --: |" * len(STARVED)]
    for name, block in (("without an inventory", FINE), ("with an inventory", INVENTORY)):
        figures = []
        for tokens in STARVED:
            blocks = {"whole_note": block}
            [result] = judged(notes, tokens, [DESIGNS["whole_note"]], replicates=3, blocks=blocks)
            figures.append(f"{result.to_json()['paired_omissions']:.3f}")
        rows.append(f"| {name} | {' | '.join(figures)} |")
    head = f"{notes.name}: simulated judge; paired omissions of `whole_note`, 3 replicates"
    return "\n".join([head, "", *rows, ""])


def tables() -> Iterator[tuple[str, str]]:
    """(name of the marker, table)."""
    made = made_notes()
    yield "made", to_markdown(judged(made, MADE_TOKENS, replicates=3), simulated=True)
    yield "starved", starved_table(made)
    data = os.environ.get("HELDOUT_DATA")
    if data:
        real = judged(real_notes(Path(data)), REAL_TOKENS, replicates=3)
        yield "real", to_markdown(real, simulated=True)


def main(arguments: Sequence[str]) -> None:
    """Print the tables, or put them into the file named."""
    if not arguments:
        for name, table in tables():
            print(f"{name}\n\n{table}")
        return
    path = Path(arguments[0])
    text = path.read_text("utf-8")
    for name, table in tables():
        text = replaced(text, name, table)
    path.write_text(text, "utf-8")


def replaced(text: str, name: str, table: str) -> str:
    """`text` with `table` between its markers `<!-- name -->` and `<!-- end -->`."""
    head, mark, rest = text.partition(f"<!-- {name} -->\n")
    _, end, tail = rest.partition("<!-- end -->")
    if not mark or not end:
        raise ValueError(f"the document has no markers for the table «{name}»")
    return f"{head}{mark}\n{table}\n{end}{tail}"


def _note_set(name: str, benchmark: Benchmark) -> NoteSet:
    notes = tuple(note for consultation in benchmark for note in consultation.notes)
    return NoteSet(name, notes, benchmark.clean_means)


if __name__ == "__main__":
    main(sys.argv[1:])
