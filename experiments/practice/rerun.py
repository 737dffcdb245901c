"""`heldout rerun`: a block, unchanged to the byte, and its control along a ladder of budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.experiments.campaigns.checks import Checked, check
from heldout.experiments.practice.ladder import Ladder, Rung, Sat, Step
from heldout.experiments.practice.ladder_files import write_ladder
from heldout.experiments.practice.loaded_prompt import Taken, from_run, plain_seed
from heldout.experiments.practice.note_sets import NoteFile, benchmark_of
from heldout.experiments.practice.rung_judging import Repeats, RungJudge, Unrecorded, target_of
from heldout.experiments.practice.session import Asking, desk, pinned_for
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import existing_run
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.journal import RunJournal
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.selection import PairKind as Pairs
from heldout.splits.benchmark import CleanMeans, Note
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_json
from heldout.splits.heldout.looks import Family, LookKind
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.vault import Splits, Vault, open_splits
from heldout.students.calls.caller import never
from heldout.students.models.pins import PinnedModel

On = Literal["accept", "heldout"]
JOURNAL = "journal.jsonl"
ALPHA = 0.025
"""One-sided level of a rung's test; divided by the planned looks, held over the rungs by Holm."""


@dataclass(frozen=True)
class RerunRequest:
    """One `heldout rerun`.

    `on`: the accept or held-out notes of the run the block comes from, or a file of notes.
    `control` None: the baseline of that run, else the design's own plain block. `replicates` repeat
    everything with samples of their own.
    """

    taken: Taken
    rungs: tuple[Rung, ...]
    on: On | NoteFile
    out: Path
    asking: Asking
    control: Taken | None = None
    replicates: int = 1
    acknowledge_reuse: bool = False


@dataclass(frozen=True)
class RerunReport:
    """The ladder and the files it was written to."""

    ladder: Ladder
    files: tuple[Path, ...]
    exploratory: bool
    usd: float | None

    def to_json(self) -> dict[str, Any]:
        """The ladder, and what stands around it."""
        return {
            **self.ladder.to_json(),
            "exploratory": self.exploratory,
            "usd": self.usd,
            "files": [str(file.resolve()) for file in self.files],
        }

    @property
    def text(self) -> str:
        """The rungs in words, and where the rest is."""
        ladder = self.ladder
        lines = [f"{ladder.name} beside {ladder.control} on {ladder.notes}"]
        for step in ladder.steps:
            ours, theirs = (_estimate(s.paired(ladder.family)) for s in (step.block, step.control))
            beside = ladder.beside_control(step, ladder.family)
            change = "" if beside is None else f"  {_signed(beside)}"
            lines.append(f"  {step.rung.name:32} {ours} beside {theirs}{change}")
        if self.exploratory:
            lines.append("exploratory: beyond the planned looks, nothing here is a test")
        if ladder.simulated:
            lines.append("simulated model: no figure here is about a real one")
        return "\n".join([*lines, *(f"  {file}" for file in self.files)])


def _estimate(interval: Interval | None) -> str:
    return "  n/a" if interval is None else f"{interval.estimate:.3f}"


def _signed(interval: Interval) -> str:
    return f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


@dataclass(frozen=True)
class _Notes:
    """What is judged: notes at hand, or a vault whose notes come out look by look."""

    name: str
    clean_means: CleanMeans
    notes: tuple[Note, ...] = ()
    vault: Vault | None = None

    def judged(self, judge: RungJudge, block: str, rung: Rung, kind: LookKind) -> Sat:
        """`block` at `rung`."""
        if self.vault is None:
            return judge.on_notes(block, rung, self.notes)
        return judge.on_heldout(block, rung, self.vault, kind)


def rerun(
    request: RerunRequest,
    *,
    progress: Callable[[str], None] | None = None,
    stop: Callable[[], str | None] = never,
) -> RerunReport:
    """Judge block and control at every rung and write the ladder into `request.out`.

    Raises BadInput before the first call: a model that does not take an effort, a held-out set
    without a run. Raises LooksSpent beyond the plan of looks. Stopped, CircuitOpen or
    InfrastructureFailure leave what the same request goes on from.
    """
    taken = request.taken
    control = request.control or _baseline(taken)
    _same_frame(taken, control)
    model = pinned_for(taken, request.asking, [rung.budget for rung in request.rungs])
    run_id = f"rerun-{sha256_json(_identity(request, control, model))[:16]}"
    with ExitStack() as stack:
        journal = None
        if request.on == "heldout":
            request.out.mkdir(parents=True, exist_ok=True)
            journal = RunJournal(request.out / JOURNAL)
            stack.callback(journal.close)
        notes = _notes(request, model, run_id, journal)
        request.out.mkdir(parents=True, exist_ok=True)
        opened = stack.enter_context(
            desk(
                f"sqlite:///{request.out / 'calls.sqlite'}",
                run_id,
                taken,
                model,
                request.asking,
                stop=stop,
            )
        )
        judge = RungJudge(opened, taken, model, Repeats(request.replicates, request.asking.seed))
        steps = []
        for rung in request.rungs:
            if progress is not None:
                progress(rung.name)
            theirs = notes.judged(judge, control.block, rung, LookKind.BASELINE)
            ours = notes.judged(judge, taken.block, rung, LookKind.OTHER)
            steps.append(Step(rung, ours, theirs))
        usd = opened.ledger.totals.usd
    ladder = Ladder(
        taken.name,
        control.name,
        notes.name,
        tuple(steps),
        family=_pairs(taken),
        tested=notes.vault is not None and not judge.exploratory,
        alpha=ALPHA / (notes.vault.planned_looks if notes.vault else 1),
        simulated=model.pin.id.startswith("sim/"),
    )
    files = write_ladder(ladder, request.out, taken, clean_means=notes.clean_means)
    return RerunReport(ladder, files, judge.exploratory, usd)


def default_out(taken: Taken, rungs: Sequence[Rung], on: str) -> Path:
    """Where a rerun goes unless it is told: in the run, or under `runs`."""
    mark = sha256_json([taken.sha256, [asdict(rung) for rung in rungs], on])[:12]
    folder = (taken.run or Path("runs")) / "reruns"
    return folder / f"{taken.name}-{on if on in ('accept', 'heldout') else 'file'}-{mark}"


def _notes(
    request: RerunRequest, model: PinnedModel, run_id: str, journal: RunJournal | None
) -> _Notes:
    if isinstance(request.on, NoteFile):
        benchmark = benchmark_of(request.on)
        if benchmark is None:
            message = "a ladder needs pairs: a benchmark file, or a table with the column kind"
            raise BadInput.one(str(request.on.path), message)
        notes = tuple(note for c in benchmark for note in c.notes)
        return _Notes(request.on.path.name, benchmark.clean_means, notes)
    splits = _splits(request, model, run_id, journal)
    means = splits.benchmark.clean_means
    name = f"{splits.benchmark.name}, {request.on}"
    if request.on == "heldout":
        splits.vault.admit()
        return _Notes(name, means, vault=splits.vault)
    return _Notes(name, means, tuple(note for c in splits.accept for note in c.notes))


def _splits(
    request: RerunRequest, model: PinnedModel, run_id: str, journal: RunJournal | None
) -> Splits:
    """The partition of the run the block comes from."""
    checked = checked_run(request.taken)
    targets = tuple(target_of(request.taken, model, rung) for rung in request.rungs)
    family = Family(run_id, tuple(dict.fromkeys(targets)))
    return open_splits(
        checked.load,
        checked.manifest,
        journal=journal or Unrecorded(),
        buyer=Buyer(run_id, family, acknowledge_reuse=request.acknowledge_reuse),
        exclude=checked.exclude,
    )


def checked_run(taken: Taken) -> Checked:
    """The configuration of the run a block comes from. Raises BadInput where there is none."""
    if taken.run is None:
        raise BadInput.one("--on", "accept and heldout belong to a run: give RUN, or --on FILE")
    run = existing_run(taken.run)
    return check(load_config(run.config), run)


def _baseline(taken: Taken) -> Taken:
    """The baseline of the run, else the design's own plain block."""
    if taken.run is None:
        return plain_seed(taken)
    return from_run(taken.run, load_config(existing_run(taken.run).config).baseline_name)


def _same_frame(taken: Taken, control: Taken) -> None:
    if (control.design, control.frame.sha256) != (taken.design, taken.frame.sha256):
        raise BadInput.one("--control", f"is a block of design {control.design}: not comparable")
    if control.sha256 == taken.sha256:
        raise BadInput.one("--control", "is the same block; name another one")


def _pairs(taken: Taken) -> Pairs:
    """What the primary measure of the run is about; omissions for a prompt without a run."""
    if taken.run is None:
        return "omission"
    return primary_pairs(load_config(existing_run(taken.run).config).search.primary)


def _identity(request: RerunRequest, control: Taken, model: PinnedModel) -> list[Any]:
    on = request.on if isinstance(request.on, str) else str(request.on.path.name)
    return [
        request.taken.sha256,
        control.sha256,
        [asdict(rung) for rung in request.rungs],
        request.replicates,
        on,
        model.pin.id,
        model.pin.temperature,
        dict(model.pin.parameters),
        request.asking.seed,
    ]
