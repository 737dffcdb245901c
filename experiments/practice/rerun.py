"""`heldout rerun`: a block, unchanged to the byte, and its control along a ladder of budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.experiments.practice.ladder import Ladder, LadderStep
from heldout.experiments.practice.ladder_files import write_ladder
from heldout.experiments.practice.loaded_prompt import LoadedPrompt, from_run
from heldout.experiments.practice.note_rows import NoteFile
from heldout.experiments.practice.note_sets import benchmark_of, register_labelled
from heldout.experiments.practice.rung_judging import NullJournal, RungJudge, target_of
from heldout.experiments.practice.rungs import Rung, RungResult
from heldout.experiments.practice.session import (
    STORE,
    JudgeOptions,
    ReadyPrompt,
    config_of,
    make_ready,
    tell_nobody,
    unanswered_lines,
)
from heldout.experiments.runs.run_data import splits_of_run
from heldout.experiments.runs.run_directory import working_in
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.journal import Journal, RunJournal
from heldout.gepa.record.summary import SIMULATED_JUDGE
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.selection import PairKind
from heldout.splits.benchmark import CleanMeans, Note
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_json
from heldout.splits.heldout.looks import Family, LookKind
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.vault import Vault
from heldout.students.calls.caller import never

JOURNAL = "journal.jsonl"
ALPHA = 0.025
"""One-sided level of a rung's test; divided by the planned looks, held over the rungs by Holm."""

RerunOn = Literal["accept", "heldout"] | NoteFile
"""The notes of a rerun: a split of the block's run, or a file."""


def notes_named(on: str, consultations: Path | None = None) -> RerunOn:
    """The notes that a person means by `accept`, `heldout` or the path of a file."""
    match on:
        case "accept" | "heldout":
            return on
    return NoteFile(Path(on), consultations)


@dataclass(frozen=True)
class RerunReport:
    """The ladder and the files it was written to."""

    ladder: Ladder
    files: tuple[Path, ...]
    exploratory: bool
    usd: float | None
    unanswered: Mapping[str, str]
    """Notes that no reply came for at some rung, by id, with why."""

    def to_json(self) -> dict[str, Any]:
        """The ladder, and what stands around it."""
        return {
            **self.ladder.to_json(),
            "exploratory": self.exploratory,
            "usd": self.usd,
            "unanswered": dict(self.unanswered),
            "files": [str(file.resolve()) for file in self.files],
        }

    @property
    def text(self) -> str:
        """The rungs in words, and where the rest is."""
        ladder = self.ladder
        lines = [f"{ladder.name} beside {ladder.control} on {ladder.notes}"]
        for step in ladder.steps:
            ours, theirs = (_estimate(s.paired(ladder.pairs)) for s in (step.block, step.control))
            beside = ladder.beside_control(step, ladder.pairs)
            change = "" if beside is None else f"  {_signed(beside)}"
            lines.append(f"  {step.rung.name:32} {ours} beside {theirs}{change}")
        if self.exploratory:
            lines.append("exploratory: beyond the planned looks, nothing here is a test")
        lines += unanswered_lines(self.unanswered)
        if ladder.simulated:
            lines.append(SIMULATED_JUDGE)
        return "\n".join([*lines, *(f"  {file}" for file in self.files)])


def _estimate(interval: Interval | None) -> str:
    return "  n/a" if interval is None else f"{interval.estimate:.3f}"


def _signed(interval: Interval) -> str:
    return f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


@dataclass(frozen=True)
class _JudgedNotes:
    """What is judged: notes at hand, or a vault whose notes come out look by look."""

    name: str
    clean_means: CleanMeans
    notes: tuple[Note, ...] = ()
    vault: Vault | None = None

    def judged(self, judge: RungJudge, block: str, rung: Rung, kind: LookKind) -> RungResult:
        """`block` at `rung`."""
        if self.vault is None:
            return judge.on_notes(block, rung, self.notes)
        return judge.on_heldout(block, rung, self.vault, kind)


def rerun(  # noqa: PLR0913
    prompt: LoadedPrompt,
    rungs: Sequence[Rung],
    on: RerunOn,
    options: JudgeOptions,
    *,
    control: LoadedPrompt | None = None,
    replicates: int = 1,
    out: Path | None = None,
    acknowledge_reuse: bool = False,
    progress: Callable[[str], None] = tell_nobody,
    stop: Callable[[], str | None] = never,
) -> RerunReport:
    """Judge `prompt` and its control at every rung and write the ladder into `out`.

    `on`: the accept or held-out notes of the run the block comes from, or a file of notes.
    `control` None: the baseline of that run, else the design's own plain block. `replicates` repeat
    everything with samples of their own. `out` None: in the run, or under `runs`.

    Raises BadInput before the first call: no rung, a model that does not take an effort, a held-out
    set without a run. Raises LooksSpent beyond the plan of looks. Stopped, CircuitOpen or
    InfrastructureFailure leave what the same call goes on from.
    """
    if not rungs:
        raise BadInput.one("--effort", "nothing moves: give --effort, --max-tokens or --samples")
    control = control or _baseline(prompt)
    _same_frame(prompt, control)
    ready = make_ready(prompt, options, [rung.budget for rung in rungs])
    out = out or default_out(prompt, rungs, on)
    run_id = _run_id(ready, control, rungs, replicates, on)
    with ExitStack() as stack:
        journal: Journal = NullJournal()
        if on == "heldout":
            stack.enter_context(working_in(out))
            journal = stack.enter_context(closing(RunJournal(out / JOURNAL)))
        family = Family(run_id, tuple(dict.fromkeys(target_of(ready, rung) for rung in rungs)))
        buyer = Buyer(run_id, family, acknowledge_reuse=acknowledge_reuse)
        notes = _notes(prompt, on, journal, buyer)
        if on != "heldout":
            stack.enter_context(working_in(out))
        session = stack.enter_context(ready.opened(out / STORE, run_id, stop=stop))
        judge = RungJudge(ready, session, replicates)
        steps = []
        for rung in rungs:
            progress(f"judging at {rung.name}")
            steps.append(_step(notes, judge, rung, prompt.block, control.block))
        usd = session.judging.ledger.totals.usd
        ladder = Ladder(
            prompt.name,
            control.name,
            notes.name,
            tuple(steps),
            pairs=_pairs(prompt),
            tested=notes.vault is not None and not judge.exploratory,
            alpha=ALPHA / (notes.vault.planned_looks if notes.vault else 1),
            simulated=ready.simulated,
        )
        files = write_ladder(ladder, out, prompt, clean_means=notes.clean_means)
    return RerunReport(ladder, files, judge.exploratory, usd, judge.unanswered)


def _step(
    notes: _JudgedNotes, judge: RungJudge, rung: Rung, block: str, control: str
) -> LadderStep:
    """Both blocks at one rung, the control first."""
    theirs = notes.judged(judge, control, rung, LookKind.BASELINE)
    return LadderStep(rung, notes.judged(judge, block, rung, LookKind.OTHER), theirs)


def default_out(prompt: LoadedPrompt, rungs: Sequence[Rung], on: RerunOn) -> Path:
    """Where a rerun goes unless it is told: in the run, or under `runs`."""
    where = on if isinstance(on, str) else str(on.path)
    mark = sha256_json([prompt.sha256, [asdict(rung) for rung in rungs], where])[:12]
    folder = (prompt.run or Path("runs")) / "reruns"
    return folder / f"{prompt.name}-{on if isinstance(on, str) else 'file'}-{mark}"


def _notes(prompt: LoadedPrompt, on: RerunOn, journal: Journal, buyer: Buyer) -> _JudgedNotes:
    if isinstance(on, NoteFile):
        benchmark = benchmark_of(on)
        if benchmark is None:
            message = "a ladder needs pairs: a benchmark file, or a table with the column kind"
            raise BadInput.one(str(on.path), message)
        register_labelled(on, buyer.run, "rerun")
        notes = tuple(note for c in benchmark for note in c.notes)
        return _JudgedNotes(on.path.name, benchmark.clean_means, notes)
    if prompt.run is None:
        raise BadInput.one("--on", "accept and heldout belong to a run: give RUN, or --on FILE")
    splits = splits_of_run(prompt.run, journal=journal, buyer=buyer)
    means = splits.benchmark.clean_means
    name = f"{splits.benchmark.name}, {on}"
    if on == "heldout":
        splits.vault.admit()
        return _JudgedNotes(name, means, vault=splits.vault)
    return _JudgedNotes(name, means, tuple(note for c in splits.accept for note in c.notes))


def _baseline(prompt: LoadedPrompt) -> LoadedPrompt:
    """The baseline of the run, else the design's own plain block."""
    config = config_of(prompt)
    if prompt.run is None or config is None:
        return prompt.plain_seed
    return from_run(prompt.run, config.baseline_name)


def _same_frame(prompt: LoadedPrompt, control: LoadedPrompt) -> None:
    if (control.design, control.frame.sha256) != (prompt.design, prompt.frame.sha256):
        raise BadInput.one("--control", f"is a block of design {control.design}: not comparable")
    if control.sha256 == prompt.sha256:
        raise BadInput.one("--control", "is the same block; name another one")


def _pairs(prompt: LoadedPrompt) -> PairKind:
    """What the primary measure of the run is about; omissions for a prompt without a run."""
    config = config_of(prompt)
    return "omission" if config is None else primary_pairs(config.search.primary)


def _run_id(
    ready: ReadyPrompt,
    control: LoadedPrompt,
    rungs: Sequence[Rung],
    replicates: int,
    on: RerunOn,
) -> str:
    """The same for the same rerun, which goes on from its calls and looks."""
    pin = ready.model.pin
    identity = [
        ready.prompt.sha256,
        control.sha256,
        [asdict(rung) for rung in rungs],
        replicates,
        on if isinstance(on, str) else on.path.name,
        pin.id,
        pin.temperature,
        dict(pin.parameters),
        ready.seed,
    ]
    return f"rerun-{sha256_json(identity)[:16]}"
