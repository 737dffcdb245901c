"""`heldout apply`: judge a folder or table of notes, resumable, in memory that barely grows.

Outputs are written anew from the first note at every start; what is stored is not asked again, so
a killed run that is started once more ends with the same files as one that was never killed.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heldout.experiments.practice.apply_files import ApplyOutputs
from heldout.experiments.practice.loaded_prompt import LoadedPrompt
from heldout.experiments.practice.note_rows import NoteFile, NoteRow, open_notes
from heldout.experiments.practice.note_sets import register_labelled
from heldout.experiments.practice.session import (
    STORE,
    JudgeOptions,
    make_ready,
    tell_nobody,
    unanswered_lines,
)
from heldout.experiments.practice.thresholds import ThresholdChoice, threshold_for
from heldout.experiments.practice.verdicts import (
    DECIMALS,
    JudgeConfig,
    NoteJudge,
    Verdict,
    judge_note,
)
from heldout.experiments.runs.run_directory import working_in
from heldout.gepa.record.codec import plain
from heldout.gepa.record.summary import SIMULATED_JUDGE
from heldout.gepa.statistics.rates.counts import Count
from heldout.splits.benchmark import Note
from heldout.splits.errors import Unanswered
from heldout.splits.hashing import sha256_json
from heldout.students.calls.caller import never
from heldout.students.calls.ledger import Ledger
from heldout.students.designs.facts import NoteLeaked
from heldout.students.frames import EscapedTags
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome

CHUNK = 500
"""Notes that share a store handle: it remembers its calls, so it is exchanged now and then."""

UNREADABLE = "unreadable"
TOO_LONG = "context_window"
"""The fault of a note that does not fit into the model, however often it is asked."""


@dataclass
class ApplyProgress:
    """How far it is, and what was found."""

    notes: int = 0
    flagged: int = 0
    without_score: int = 0
    unreadable: int = 0
    unanswered: dict[str, str] = field(default_factory=dict)
    """Notes that no reply came for, by id, with why."""
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def scored(self) -> int:
        """Notes with a score."""
        return self.notes - self.without_score - self.unreadable - len(self.unanswered)

    def see(self, id_: str, status: str, verdict: Verdict | None, reason: str) -> None:
        """Count one row."""
        self.notes += 1
        if status == Outcome.UNANSWERED:
            self.unanswered[id_] = reason
        elif status == UNREADABLE:
            self.unreadable += 1
            self.reasons[reason.partition(":")[0]] += 1
        elif verdict is None or verdict.score is None:
            self.without_score += 1
        elif verdict.flag:
            self.flagged += 1

    def line(self, usd: float | None) -> str:
        """One line of progress."""
        cost = "USD unknown" if usd is None else f"USD {usd:.2f}"
        left = f"{len(self.unanswered)} unanswered · " if self.unanswered else ""
        return (
            f"{self.notes} notes · {self.flagged} flagged · {self.without_score} without a score · "
            f"{self.unreadable} unreadable · {left}{cost}"
        )


@dataclass(frozen=True)
class ApplyReport:
    """What was done; `files` are the outputs."""

    counts: ApplyProgress
    chosen: ThresholdChoice
    files: tuple[Path, ...]
    usd: float | None
    calls: int
    standing: str
    simulated: bool
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Stable keys; `flagged` is a count over the notes with a score."""
        return {
            "notes": self.counts.notes,
            "flagged": plain(Count(self.counts.flagged, self.counts.scored)),
            "without_score": self.counts.without_score,
            "unreadable": self.counts.unreadable,
            "unanswered": dict(self.counts.unanswered),
            "reasons": dict(self.counts.reasons),
            "notices": list(self.notices),
            "threshold": self.chosen.value,
            "threshold_from": self.chosen.origin,
            "usd": self.usd,
            "calls": self.calls,
            "standing": self.standing,
            "simulated": self.simulated,
            "files": [str(file.resolve()) for file in self.files],
        }

    @property
    def text(self) -> str:
        """The same for a person."""
        lines = [*self.notices, self.counts.line(self.usd), self.chosen.sentence, self.standing]
        lines += [f"  {count} unreadable: {why}" for why, count in self.counts.reasons.items()]
        lines += unanswered_lines(self.counts.unanswered)
        if self.simulated:
            lines.append(SIMULATED_JUDGE)
        return "\n".join([*lines, *(f"  {file}" for file in self.files)])


def apply(  # noqa: PLR0913
    prompt: LoadedPrompt,
    notes: NoteFile | Path,
    out: Path,
    options: JudgeOptions,
    *,
    threshold: float | None = None,
    calibration: Path | None = None,
    escalation: Budget | None = None,
    unconfirmed: bool = False,
    progress: Callable[[str], None] = tell_nobody,
    stop: Callable[[], str | None] = never,
) -> ApplyReport:
    """Judge every note and write CSV, JSON Lines, HTML and a card into `out`.

    `threshold` or a `calibration` file replace the threshold on the card. `escalation` is the
    budget of a second, dearer judging of what the first one flags. `unconfirmed` takes a prompt
    that no gate passed.

    A note that is never answered while others are is a row with the reason. Raises BadInput before
    anything is written; Stopped, CircuitOpen or InfrastructureFailure in between, after which the
    same call goes on.
    """
    prompt.require_confirmed(unconfirmed)
    dearer = [escalation] if escalation else []
    ready = make_ready(prompt, options, [options.budget_for(prompt), *dearer])
    judged_as = ready.judged_as
    chosen = threshold_for(prompt, judged_as, threshold, calibration)
    file = notes if isinstance(notes, NoteFile) else NoteFile(notes)
    opened = open_notes(file)
    counts, ledger = ApplyProgress(), Ledger(options.caps)
    escaped = EscapedTags(prompt.frame)
    config = JudgeConfig(prompt.block, ready.budget, ready.samples, chosen.value)
    name = sha256_json([prompt.sha256, ready.seed])[:16]
    register_labelled(file, f"apply-{name}", "apply")
    with working_in(out), ApplyOutputs.into(out, prompt, judged_as, chosen) as outputs:

        def take_in(row: NoteRow, found: Verdict | NoVerdict) -> None:
            verdict = found if isinstance(found, Verdict) else None
            reason = found.reason if isinstance(found, NoVerdict) else ""
            status = found.status if isinstance(found, NoVerdict) else found.outcome
            counts.see(row.id, status, verdict, reason)
            if row.note is not None:
                escaped.see(row.note.text, row.note.transcript)
            outputs.write(row, status, verdict, reason)
            progress(counts.line(ledger.totals.usd))

        for number, chunk in enumerate(_chunks(opened.rows(), CHUNK)):
            run_id = f"apply-{name}-{number}"
            with ready.opened(out / STORE, run_id, ledger=ledger, stop=stop) as session:
                student: NoteJudge = session.student
                if escalation:
                    student = EscalatedJudge(student, chosen.value, escalation)
                window = 4 * options.concurrency
                session.judging.runner.run(_judged(student, chunk, config, window, take_in))
    spent = ledger.totals
    return ApplyReport(
        counts,
        chosen,
        outputs.files,
        spent.usd,
        spent.calls,
        prompt.standing,
        ready.simulated,
        (*opened.notices, *escaped.notices),
    )


@dataclass(frozen=True, slots=True)
class NoVerdict:
    """Why nothing is said of a note: it is `unreadable`, or `unanswered`."""

    status: str
    reason: str


TakeIn = Callable[[NoteRow, Verdict | NoVerdict], None]
"""Told of every row in order, with its verdict or the reason why it has none."""

Waiting = deque[tuple[NoteRow, asyncio.Task[Verdict | NoVerdict] | None]]


async def _judged(
    student: NoteJudge, rows: Sequence[NoteRow], config: JudgeConfig, window: int, take_in: TakeIn
) -> None:
    """Judge `rows`, at most `window` of them under way at a time."""
    waiting: Waiting = deque()
    try:
        for row in rows:
            readable = row.note is not None
            one = asyncio.create_task(_one(student, row, config)) if readable else None
            waiting.append((row, one))
            if len(waiting) >= window:
                take_in(*await _next(waiting))
        while waiting:
            take_in(*await _next(waiting))
    finally:
        # What is under way comes back and is stored, whatever ended this.
        tasks = [task for _, task in waiting if task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)


async def _next(waiting: Waiting) -> tuple[NoteRow, Verdict | NoVerdict]:
    row, task = waiting.popleft()
    return row, NoVerdict(UNREADABLE, row.reason) if task is None else await task


async def _one(student: NoteJudge, row: NoteRow, config: JudgeConfig) -> Verdict | NoVerdict:
    """The verdict on one note, or why this note cannot be judged."""
    assert row.note is not None  # rows without a note are not judged
    try:
        return await judge_note(student, row.note, config)
    except Unanswered as fault:
        if fault.kind == TOO_LONG:
            return NoVerdict(UNREADABLE, f"too long for the model: {fault.detail}")
        return NoVerdict(Outcome.UNANSWERED, str(fault))
    except NoteLeaked as leaked:
        return NoVerdict(UNREADABLE, f"the transcript holds the note: {leaked}")


def _chunks(rows: Iterable[NoteRow], size: int) -> Iterator[list[NoteRow]]:
    iterator = iter(rows)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


@dataclass(frozen=True)
class EscalatedJudge:
    """Judges at the budget asked for, and what that flags once more at `then`.

    The second judging decides; a note that the first one clears is never judged again, so the
    flags are a part of the first judging's. `threshold` None: the design's own rule decides what
    goes on.
    """

    student: NoteJudge
    threshold: float | None
    then: Budget

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`, twice where the first judging flags it or has no answer."""
        first = await self.student.judge(block, note, budget, sample)
        if first.outcome is Outcome.OK and not self._flags(first):
            return first
        second = await self.student.judge(block, note, self.then, sample)
        return replace(second, calls=first.calls + second.calls)

    def _flags(self, judgement: Judgement) -> bool:
        if self.threshold is None or judgement.score is None:
            return bool(judgement.flag)
        return round(judgement.score, DECIMALS) < round(self.threshold, DECIMALS)
