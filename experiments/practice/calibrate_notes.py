"""`heldout calibrate`: judge a person's clean notes and set a threshold on their scores."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.experiments.practice.calibration import Calibration, NoteScore, calibrate
from heldout.experiments.practice.drift import Drift, check_drift
from heldout.experiments.practice.loaded_prompt import LoadedPrompt
from heldout.experiments.practice.note_rows import NoteFile
from heldout.experiments.practice.note_sets import (
    KindedNote,
    clean_notes,
    errored_notes,
    register_labelled,
)
from heldout.experiments.practice.promises import Promise
from heldout.experiments.practice.session import (
    STORE,
    JudgedAs,
    JudgeOptions,
    PromptSession,
    make_ready,
    tell_nobody,
    unanswered_lines,
)
from heldout.experiments.practice.verdicts import JudgeConfig, Verdict, judge_note
from heldout.experiments.runs.run_directory import working_in
from heldout.gepa.record.codec import plain
from heldout.gepa.record.summary import SIMULATED_JUDGE
from heldout.splits.benchmark import Note
from heldout.splits.errors import BadInput, Unanswered
from heldout.splits.hashing import sha256_json
from heldout.students.calls.caller import never
from heldout.students.calls.session import all_answers
from heldout.students.frames import EscapedTags


@dataclass(frozen=True)
class CalibrationReport:
    """A threshold, what it was judged as, and the drift of a later batch where one was given."""

    calibration: Calibration
    judged_as: JudgedAs
    drift: Drift | None
    file: Path
    standing: str
    simulated: bool
    usd: float | None
    unanswered: Mapping[str, str]
    """Notes that no reply came for, by id, with why: they are in no figure."""
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What is written: `heldout apply --calibration` reads it."""
        return {
            **self.calibration.to_json(),
            "judged_as": plain(self.judged_as),
            "drift": None if self.drift is None else self.drift.to_json(),
            "standing": self.standing,
            "simulated": self.simulated,
            "usd": self.usd,
            "unanswered": dict(self.unanswered),
        }

    @property
    def text(self) -> str:
        """The finding for a person."""
        found = self.calibration
        lines = [*self.notices, *found.sentences]
        for detection in found.detections if found.threshold is not None else ():
            k, n, interval = detection.found.k, detection.found.n, detection.interval
            ends = f" [{interval.low:.2f}, {interval.high:.2f}]" if interval else ""
            lines.append(f"detects {k} of {n} {detection.kind} notes{ends}")
        lines.append("consultations  flags allowed  share flagged on average")
        lines += [f"{n.consultations:13}  {n.flagged:13}  {n.expected:.3f}" for n in found.advice]
        if self.drift is not None:
            lines += ["later batch:", *self.drift.sentences]
        lines.append(self.standing)
        lines += unanswered_lines(self.unanswered)
        if self.simulated:
            lines.append(SIMULATED_JUDGE)
        return "\n".join([*lines, str(self.file)])


def calibrate_command(  # noqa: PLR0913
    prompt: LoadedPrompt,
    clean: NoteFile,
    promise: Promise,
    out: Path,
    options: JudgeOptions,
    *,
    errored: NoteFile | None = None,
    later: NoteFile | None = None,
    later_checked: bool = True,
    progress: Callable[[str], None] = tell_nobody,
    stop: Callable[[], str | None] = never,
) -> CalibrationReport:
    """Judge, set the threshold, check the later batch, and write the calibration.

    `errored` notes show what the threshold detects; `later` is a later batch to check for drift,
    `later_checked`: its notes are known to be clean.

    Raises BadInput before anything is written; Stopped, CircuitOpen or InfrastructureFailure in
    between, after which the same call goes on.
    """
    ready = make_ready(prompt, options)
    judged_as = ready.judged_as
    said: list[str] = []
    sets = [
        clean_notes(clean, said.append),
        [] if errored is None else errored_notes(errored, said.append),
        [] if later is None else clean_notes(later, said.append),
    ]
    run_id = f"calibrate-{sha256_json([plain(judged_as), ready.seed])[:16]}"
    for given in (clean, errored, later):
        if given is not None:
            register_labelled(given, run_id, "calibrate")
    with working_in(out):
        with ready.opened(out / STORE, run_id, stop=stop) as session:
            config = JudgeConfig(prompt.block, ready.budget, ready.samples)
            scored = _scored(session, sets, config, progress)
            of_clean, of_errored, of_later = scored.sets
            usd = session.judging.ledger.totals.usd
        found = calibrate(of_clean, promise, of_errored)
        drift = None
        if of_later and found.threshold is not None:
            drift = check_drift(found, of_later, clean=later_checked)
        file = out / f"{prompt.file_stem}.calibration.json"
        report = CalibrationReport(
            found,
            judged_as,
            drift,
            file,
            prompt.standing,
            ready.simulated,
            usd,
            scored.unanswered,
            (*said, *EscapedTags.of(prompt.frame, (k.note for s in sets for k in s)).notices),
        )
        _write(file, report)
    return report


@dataclass(frozen=True)
class _Scored:
    """Scores by set of notes, and why a note has none."""

    sets: Sequence[list[NoteScore]]
    unanswered: Mapping[str, str]


def _scored(
    session: PromptSession,
    sets: Sequence[Sequence[KindedNote]],
    config: JudgeConfig,
    progress: Callable[[str], None],
) -> _Scored:
    """The scores of several sets of notes, in their order; a note in two of them is judged once.

    Raises InfrastructureFailure where none of the clean notes was answered.
    """
    notes = {kinded.note.id: kinded.note for one_set in sets for kinded in one_set}
    total, done = sum(map(len, sets)), itertools.count(1)

    async def one(note: Note) -> Verdict:
        verdict = await judge_note(session.student, note, config)
        progress(f"{next(done)} of {total} notes")
        return verdict

    answers = session.judging.runner.run(all_answers(map(one, notes.values())))
    found = dict(zip(notes, answers, strict=True))
    verdicts = {id_: a for id_, a in found.items() if not isinstance(a, Unanswered)}
    missing = {id_: a for id_, a in found.items() if isinstance(a, Unanswered)}
    scored = [
        [
            NoteScore(k.note.id, k.note.consultation, verdicts[k.note.id].score, k.kind)
            for k in one_set
            if k.note.id in verdicts
        ]
        for one_set in sets
    ]
    if missing and not scored[0]:
        raise next(iter(missing.values()))
    return _Scored(scored, {id_: str(fault) for id_, fault in missing.items()})


def _write(file: Path, report: CalibrationReport) -> None:
    try:
        file.write_text(json.dumps(report.to_json(), indent=2) + "\n", "utf-8")
    except OSError as error:
        raise BadInput.one(str(file), f"cannot be written ({error.strerror})") from error
