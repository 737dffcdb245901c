"""`heldout calibrate`: judge a person's clean notes and set a threshold on their scores."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.experiments.practice.calibration import Calibration, NoteScore, calibrate
from heldout.experiments.practice.drift import Drift, check_drift
from heldout.experiments.practice.loaded_prompt import Taken
from heldout.experiments.practice.note_sets import Kinded, NoteFile, clean_notes, errored_notes
from heldout.experiments.practice.promises import Promise
from heldout.experiments.practice.session import Asking, Desk, desk, identity, pinned_for
from heldout.experiments.practice.verdicts import Verdict, Way, judge_note
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_json
from heldout.students.calls.caller import never
from heldout.students.models.chat import Budget


@dataclass(frozen=True)
class CalibrateRequest:
    """One `heldout calibrate`.

    `later` is a later batch to check for drift; `later_checked`: its notes are known to be clean.
    `budget` and `samples` None: as the block came.
    """

    taken: Taken
    clean: NoteFile
    promise: Promise
    out: Path
    asking: Asking
    errored: NoteFile | None = None
    later: NoteFile | None = None
    later_checked: bool = True
    budget: Budget | None = None
    samples: int | None = None


@dataclass(frozen=True)
class CalibrationReport:
    """A threshold, what it was judged as, and the drift of a later batch where one was given."""

    calibration: Calibration
    judged_as: dict[str, Any]
    drift: Drift | None
    file: Path
    standing: str
    simulated: bool
    usd: float | None

    def to_json(self) -> dict[str, Any]:
        """What is written: `heldout apply --calibration` reads it."""
        return {
            **self.calibration.to_json(),
            "judged_as": self.judged_as,
            "drift": None if self.drift is None else self.drift.to_json(),
            "standing": self.standing,
            "simulated": self.simulated,
            "usd": self.usd,
        }

    @property
    def text(self) -> str:
        """The finding for a person."""
        found = self.calibration
        lines = [*found.sentences]
        for detection in found.detections if found.threshold is not None else ():
            k, n, interval = detection.found.k, detection.found.n, detection.interval
            ends = f" [{interval.low:.2f}, {interval.high:.2f}]" if interval else ""
            lines.append(f"detects {k} of {n} {detection.kind} notes{ends}")
        lines.append("consultations  flags allowed  share flagged on average")
        lines += [f"{n.consultations:13}  {n.flagged:13}  {n.expected:.3f}" for n in found.advice]
        if self.drift is not None:
            lines += ["later batch:", *self.drift.sentences]
        lines.append(self.standing)
        if self.simulated:
            lines.append("simulated model: no figure here is about a real one")
        return "\n".join([*lines, str(self.file)])


def calibrate_command(
    request: CalibrateRequest,
    *,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], str | None] = never,
) -> CalibrationReport:
    """Judge, set the threshold, check the later batch, and write the calibration.

    Raises BadInput before anything is written; Stopped, CircuitOpen or InfrastructureFailure in
    between, after which the same request goes on.
    """
    taken = request.taken
    budget, samples = request.budget or taken.budget, request.samples or taken.samples
    model = pinned_for(taken, request.asking, [budget])
    judged_as = identity(taken, model, budget, samples)
    sets = [
        clean_notes(request.clean),
        [] if request.errored is None else errored_notes(request.errored),
        [] if request.later is None else clean_notes(request.later),
    ]
    request.out.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{request.out / 'calls.sqlite'}"
    run_id = f"calibrate-{sha256_json([judged_as, request.asking.seed])[:16]}"
    with desk(url, run_id, taken, model, request.asking, stop=stop) as opened:
        way = Way(taken.block, budget, samples)
        total = sum(map(len, sets))
        clean, errored, later = scored(opened, sets, way, _counting(progress, total))
        usd = opened.ledger.totals.usd
    found = calibrate(clean, request.promise, errored)
    drift = None
    if later and found.threshold is not None:
        drift = check_drift(found.to_json(), later, clean=request.later_checked)
    file = request.out / f"{taken.file_stem}.calibration.json"
    simulated = model.pin.id.startswith("sim/")
    report = CalibrationReport(found, judged_as, drift, file, taken.standing, simulated, usd)
    _write(file, report)
    return report


def scored(
    opened: Desk, sets: Sequence[Sequence[Kinded]], way: Way, each: Callable[[], None]
) -> list[list[NoteScore]]:
    """The scores of several sets of notes, in their order; `each` is told of every note."""

    async def one(kinded: Kinded, verdicts: dict[str, Verdict]) -> None:
        verdicts[kinded.note.id] = await judge_note(opened.student, kinded.note, way)
        each()

    async def all_of() -> dict[str, Verdict]:
        verdicts: dict[str, Verdict] = {}
        notes = {k.note.id: k for notes in sets for k in notes}
        # Every call in flight comes back before a fault is raised, so that its reply is stored.
        results = await asyncio.gather(
            *(one(kinded, verdicts) for kinded in notes.values()), return_exceptions=True
        )
        faults = [result for result in results if result is not None]
        if faults:
            raise max(faults, key=lambda fault: getattr(fault, "exit_status", 0))
        return verdicts

    verdicts = opened.runner.run(all_of())
    return [
        [
            NoteScore(k.note.id, k.note.consultation, verdicts[k.note.id].score, k.kind)
            for k in notes
        ]
        for notes in sets
    ]


def _counting(progress: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    done = 0

    def each() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return each


def _write(file: Path, report: CalibrationReport) -> None:
    try:
        file.write_text(json.dumps(report.to_json(), indent=2) + "\n", "utf-8")
    except OSError as error:
        raise BadInput.one(str(file), f"cannot be written ({error.strerror})") from error
