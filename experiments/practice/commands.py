"""What the practitioner's commands do with their options; the command line parses and prints."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from heldout.experiments.practice.apply_notes import ApplyReport, ApplyRequest, Counts, apply
from heldout.experiments.practice.budget_probe import (
    ProbeReport,
    ProbeRequest,
    budget_probe,
    larger,
)
from heldout.experiments.practice.calibrate_notes import (
    CalibrateRequest,
    CalibrationReport,
    calibrate_command,
)
from heldout.experiments.practice.export import ExportReport, ExportRequest, export
from heldout.experiments.practice.ladder import Rung, rungs_of
from heldout.experiments.practice.loaded_prompt import Taken, take
from heldout.experiments.practice.note_sets import NoteFile
from heldout.experiments.practice.promises import Method, Promise
from heldout.experiments.practice.rerun import (
    On,
    RerunReport,
    RerunRequest,
    default_out,
    rerun,
)
from heldout.experiments.practice.session import Asking, seed_of
from heldout.experiments.runs.stopping import stop_requests
from heldout.splits.errors import BadInput
from heldout.students.calls.ledger import Caps
from heldout.students.models.chat import Budget

EVERY_S = 5.0
"""How often progress is told on standard error."""

OUT = Path("judged")


@dataclass(frozen=True)
class Common:
    """Options every command shares; None takes what the block came with."""

    model: str | None = None
    models: Path | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    effort: str | None = None
    samples: int | None = None
    seed: int | None = None
    concurrency: int = 8
    usd: float | None = None

    def asking(self, taken: Taken) -> Asking:
        """How `taken` is asked; without a seed that of its run, else 11."""
        return Asking(
            seed=seed_of(taken) if self.seed is None else self.seed,
            model=self.model,
            models=self.models,
            temperature=self.temperature,
            concurrency=self.concurrency,
            caps=Caps(usd=self.usd),
        )

    def budget(self, taken: Taken) -> Budget | None:
        """The budget asked for, None where the block's own is."""
        if self.max_tokens is None and self.effort is None:
            return None
        own = taken.budget
        effort = own.reasoning_effort if self.effort is None else self.effort
        return Budget(self.max_tokens or own.max_tokens, None if effort == "-" else effort)


@dataclass(frozen=True)
class Ladders:
    """The options of a ladder, lists separated by commas; None takes what the block came with."""

    effort: str | None = None
    max_tokens: str | None = None
    samples: str | None = None

    def rungs(self, taken: Taken) -> tuple[Rung, ...]:
        """The rungs. Raises BadInput for values that are none."""
        own = taken.budget
        efforts: list[str | None] = [own.reasoning_effort]
        if self.effort is not None:
            efforts = list(_split(self.effort))
        caps = _numbers("--max-tokens", self.max_tokens, own.max_tokens)
        return rungs_of(efforts, caps, _numbers("--samples", self.samples, taken.samples))

    @property
    def given(self) -> bool:
        """True if any of them was."""
        return (self.effort, self.max_tokens, self.samples) != (None, None, None)


@dataclass(frozen=True)
class Notes:
    """What a ladder is judged on: `accept`, `heldout`, or a benchmark file."""

    on: str = "accept"
    consultations: Path | None = None
    acknowledge_reuse: bool = False

    @property
    def where(self) -> On | NoteFile:
        """The split, or the file."""
        match self.on:
            case "accept":
                return "accept"
            case "heldout":
                return "heldout"
        return NoteFile(Path(self.on), self.consultations)


def run_rerun(
    source: str,
    ladders: Ladders,
    common: Common,
    notes: Notes,
    *,
    control: str | None = None,
    replicates: int = 1,
    out: Path | None = None,
) -> RerunReport:
    """`heldout rerun`. Raises BadInput where no budget moves."""
    taken = take(source)
    if not ladders.given:
        raise BadInput.one("--effort", "nothing moves: give --effort, --max-tokens or --samples")
    rungs = ladders.rungs(taken)
    request = RerunRequest(
        taken=taken,
        rungs=rungs,
        on=notes.where,
        out=out or default_out(taken, rungs, notes.on),
        asking=common.asking(taken),
        control=None if control is None else take(control, "--control"),
        replicates=replicates,
        acknowledge_reuse=notes.acknowledge_reuse,
    )
    ticker = Ticker()
    with stop_requests() as stop:
        return rerun(request, progress=lambda rung: ticker.now(f"judging at {rung}"), stop=stop)


def run_probe(source: str, ladders: Ladders, common: Common, *, top: int = 3) -> ProbeReport:
    """`heldout rerun RUN --probe`; without a ladder at twice and four times the search's budget."""
    taken = take(source)
    if taken.run is None:
        raise BadInput.one("--probe", "needs a run directory")
    rungs = ladders.rungs(taken) if ladders.given else larger(taken.budget)
    request = ProbeRequest(taken.run, rungs, common.asking(taken), top)
    ticker = Ticker()
    with stop_requests() as stop:
        return budget_probe(request, progress=lambda b: ticker.now(f"judging {b}"), stop=stop)


@dataclass(frozen=True)
class Promised:
    """The promise of a calibration, as options."""

    false_alarms: float = 0.05
    confidence: float = 0.95
    method: Method = "binomial"


@dataclass(frozen=True)
class Batches:
    """The notes of a calibration; `later` may be a batch that nobody checked."""

    clean: NoteFile
    errored: NoteFile | None = None
    later: NoteFile | None = None
    later_checked: bool = True


def run_calibrate(
    source: str, batches: Batches, common: Common, promised: Promised, *, out: Path = OUT
) -> CalibrationReport:
    """`heldout calibrate`."""
    taken = take(source)
    promise = Promise(promised.false_alarms, promised.confidence, promised.method)
    request = CalibrateRequest(
        taken=taken,
        clean=batches.clean,
        promise=promise,
        out=out,
        asking=common.asking(taken),
        errored=batches.errored,
        later=batches.later,
        later_checked=batches.later_checked,
        budget=common.budget(taken),
        samples=common.samples,
    )
    ticker = Ticker()
    with stop_requests() as stop:
        return calibrate_command(
            request, progress=lambda done, of: ticker.tell(f"{done} of {of} notes"), stop=stop
        )


@dataclass(frozen=True)
class Thresholds:
    """Where the threshold comes from: one of the two, or neither (card or design).

    `then` is the budget of a second judging of what the first one flags.
    """

    threshold: float | None = None
    calibration: Path | None = None
    then: Budget | None = None


def run_apply(
    source: str,
    notes: Path,
    common: Common,
    thresholds: Thresholds,
    *,
    transcripts: bool = True,
    unconfirmed: bool = False,
    out: Path = OUT,
) -> ApplyReport:
    """`heldout apply`."""
    taken = take(source)
    request = ApplyRequest(
        taken=taken,
        notes=notes,
        out=out,
        asking=common.asking(taken),
        budget=common.budget(taken),
        samples=common.samples,
        threshold=thresholds.threshold,
        calibration=thresholds.calibration,
        then=thresholds.then,
        transcripts=transcripts,
        unconfirmed=unconfirmed,
    )
    ticker = Ticker()

    def told(counts: Counts, usd: float | None) -> None:
        ticker.tell(counts.line(usd))

    with stop_requests() as stop:
        return apply(request, progress=told, stop=stop)


def escalation_budget(source: str, effort: str | None, max_tokens: int | None) -> Budget | None:
    """The budget of a second judging, None where none was asked for."""
    return Common(effort=effort, max_tokens=max_tokens).budget(take(source))


def run_export(
    source: str,
    to: str,
    out: Path,
    common: Common,
    thresholds: Thresholds,
    *,
    unconfirmed: bool = False,
) -> ExportReport:
    """`heldout export`."""
    taken = take(source)
    return export(
        ExportRequest(
            taken=taken,
            to=to,
            out=out,
            asking=common.asking(taken),
            budget=common.budget(taken),
            samples=common.samples,
            threshold=thresholds.threshold,
            calibration=thresholds.calibration,
            unconfirmed=unconfirmed,
        )
    )


@dataclass
class Ticker:
    """Progress on standard error: now and then, and in one place on a terminal."""

    stream: TextIO = field(default_factory=lambda: sys.stderr)
    told_at: float = 0.0

    def tell(self, line: str) -> None:
        """Print `line` unless another one was printed a moment ago."""
        if time.monotonic() - self.told_at >= EVERY_S:
            self.now(line)

    def now(self, line: str) -> None:
        """Print `line`."""
        self.told_at = time.monotonic()
        print(line, file=self.stream, flush=True)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] or [""]


def _numbers(option: str, text: str | None, own: int) -> Sequence[int]:
    if text is None:
        return [own]
    try:
        return [int(part) for part in _split(text)]
    except ValueError:
        raise BadInput.one(option, f"{text!r} is not a list of whole numbers") from None
