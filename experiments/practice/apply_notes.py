"""`heldout apply`: judge a folder or file of notes, resumable, in memory that does not grow.

Outputs are written anew from the first note at every start; what is stored is not asked again, so
a killed run that is started once more ends with the same files as one that was never killed.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.experiments.practice.apply_files import Outputs
from heldout.experiments.practice.escalation import Escalated
from heldout.experiments.practice.loaded_prompt import Taken, require_confirmed
from heldout.experiments.practice.note_rows import NoteRow, read_rows
from heldout.experiments.practice.session import Asking, desk, identity, pinned_for
from heldout.experiments.practice.thresholds import Chosen, threshold_for
from heldout.experiments.practice.verdicts import Verdict, Way, judge_note
from heldout.splits.errors import BadInput, CallRefused
from heldout.splits.hashing import sha256_json
from heldout.students.calls.caller import never
from heldout.students.calls.ledger import Ledger
from heldout.students.designs.blindness import NoteLeaked
from heldout.students.models.chat import Budget
from heldout.students.models.pins import PinnedModel
from heldout.students.student import Student

CHUNK = 500
"""Notes that share a store handle: it remembers its calls, so it is exchanged now and then."""

UNREADABLE = "unreadable"
OF_ONE_NOTE = frozenset({"context_window"})
"""Refusals that concern one note; others, such as a rejected key, would meet every note."""


@dataclass(frozen=True)
class ApplyRequest:
    """One `heldout apply`.

    `budget` and `samples` None: as the block came. `threshold` or `calibration` replace the
    threshold on the card. `then` is the budget of a second, dearer judging of what the first one
    flags. `transcripts` False: the notes have none.
    """

    taken: Taken
    notes: Path
    out: Path
    asking: Asking
    budget: Budget | None = None
    samples: int | None = None
    threshold: float | None = None
    calibration: Path | None = None
    then: Budget | None = None
    transcripts: bool = True
    unconfirmed: bool = False


@dataclass
class Counts:
    """How far it is, and what was found."""

    notes: int = 0
    flagged: int = 0
    without_score: int = 0
    unreadable: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def see(self, status: str, verdict: Verdict | None, reason: str) -> None:
        """Count one row."""
        self.notes += 1
        if status == UNREADABLE:
            self.unreadable += 1
            self.reasons[reason.partition(":")[0]] += 1
        elif verdict is None or verdict.score is None:
            self.without_score += 1
        elif verdict.flag:
            self.flagged += 1

    def line(self, usd: float | None) -> str:
        """One line of progress."""
        cost = "USD unknown" if usd is None else f"USD {usd:.2f}"
        return (
            f"{self.notes} notes · {self.flagged} flagged · {self.without_score} without a score · "
            f"{self.unreadable} unreadable · {cost}"
        )


@dataclass(frozen=True)
class ApplyReport:
    """What was done; `files` are the outputs."""

    counts: Counts
    chosen: Chosen
    files: tuple[Path, ...]
    usd: float | None
    calls: int
    reused: int
    standing: str
    simulated: bool

    def to_json(self) -> dict[str, Any]:
        """Stable keys; `flagged` is a count over the notes with a score."""
        scored = self.counts.notes - self.counts.without_score - self.counts.unreadable
        return {
            "notes": self.counts.notes,
            "flagged": {"k": self.counts.flagged, "n": scored},
            "without_score": self.counts.without_score,
            "unreadable": self.counts.unreadable,
            "reasons": dict(self.counts.reasons),
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
        lines = [self.counts.line(self.usd), self.chosen.sentence, self.standing]
        lines += [f"  {count} unreadable: {why}" for why, count in self.counts.reasons.items()]
        if self.simulated:
            lines.append("simulated model: no figure here is about a real one")
        return "\n".join([*lines, *(f"  {file}" for file in self.files)])


def apply(
    request: ApplyRequest,
    *,
    progress: Callable[[Counts, float | None], None] | None = None,
    stop: Callable[[], str | None] = never,
) -> ApplyReport:
    """Judge every note and write CSV, JSON Lines, HTML and a card into `request.out`.

    Raises BadInput before anything is written; Stopped, CircuitOpen or InfrastructureFailure in
    between, after which the same request goes on.
    """
    taken = request.taken
    require_confirmed(taken, request.unconfirmed)
    budget, samples = request.budget or taken.budget, request.samples or taken.samples
    budgets = [budget, *([request.then] if request.then else [])]
    model = pinned_for(taken, request.asking, budgets)
    judged_as = identity(taken, model, budget, samples)
    chosen = threshold_for(taken, judged_as, request.threshold, request.calibration)
    way = Way(taken.block, budget, samples, chosen.value)
    rows = read_rows(request.notes, transcripts=request.transcripts)
    first = list(itertools.islice(rows, 1))  # a file that cannot be read at all is found here
    if request.out.exists() and not request.out.is_dir():
        raise BadInput.one("--out", f"{request.out} is a file, a folder is needed")
    request.out.mkdir(parents=True, exist_ok=True)
    counts, ledger = Counts(), Ledger(request.asking.caps)
    with Outputs.into(request.out, taken, {**judged_as, "threshold": chosen.to_json()}) as outputs:

        def take_in(row: NoteRow, verdict: Verdict | None, reason: str) -> None:
            status = UNREADABLE if verdict is None else verdict.outcome
            counts.see(status, verdict, reason)
            outputs.write(row, status, verdict, reason)
            if progress is not None:
                progress(counts, ledger.totals.usd)

        session = _Session(request, model, way, ledger, stop)
        session.judge(itertools.chain(first, rows), take_in)
    return ApplyReport(
        counts,
        chosen,
        outputs.files,
        ledger.totals.usd,
        ledger.totals.calls,
        ledger.totals.reused,
        taken.standing,
        model.pin.id.startswith("sim/"),
    )


TakeIn = Callable[[NoteRow, Verdict | None, str], None]
"""Told of every row in order, with its verdict or the reason why it has none."""

Waiting = deque[tuple[NoteRow, asyncio.Task[Verdict | str] | None]]


@dataclass(frozen=True)
class _Session:
    request: ApplyRequest
    model: PinnedModel
    way: Way
    ledger: Ledger
    stop: Callable[[], str | None]

    def judge(self, rows: Iterable[NoteRow], take_in: TakeIn) -> None:
        """Judge `rows`, a chunk a store handle."""
        request = self.request
        url = f"sqlite:///{request.out / 'calls.sqlite'}"
        name = sha256_json([request.taken.sha256, request.asking.seed])[:16]
        for number, chunk in enumerate(_chunks(rows, CHUNK)):
            with desk(
                url,
                f"apply-{name}-{number}",
                request.taken,
                self.model,
                request.asking,
                ledger=self.ledger,
                stop=self.stop,
            ) as opened:
                student = self._student(opened.student)
                opened.runner.run(self._chunk(student, chunk, take_in))

    async def _chunk(self, student: Student, rows: Sequence[NoteRow], take_in: TakeIn) -> None:
        """Judge `rows`, a bounded number of them under way at a time."""
        window = 4 * self.request.asking.concurrency
        waiting: Waiting = deque()
        try:
            for row in rows:
                readable = row.note is not None
                one = asyncio.create_task(_one(student, row, self.way)) if readable else None
                waiting.append((row, one))
                if len(waiting) >= window:
                    take_in(*await _next(waiting))
            while waiting:
                take_in(*await _next(waiting))
        finally:
            # What is under way comes back and is stored, whatever ended this.
            tasks = [task for _, task in waiting if task is not None]
            await asyncio.gather(*tasks, return_exceptions=True)

    def _student(self, student: Student) -> Student:
        then = self.request.then
        return student if then is None else Escalated(student, self.way.threshold, then)


async def _next(waiting: Waiting) -> tuple[NoteRow, Verdict | None, str]:
    row, task = waiting.popleft()
    found = row.reason if task is None else await task
    return (row, None, found) if isinstance(found, str) else (row, found, "")


async def _one(student: Student, row: NoteRow, way: Way) -> Verdict | str:
    """The verdict on one note, or why this note cannot be judged."""
    assert row.note is not None  # rows without a note are not judged
    try:
        return await judge_note(student, row.note, way)
    except CallRefused as refused:
        if refused.kind not in OF_ONE_NOTE:
            raise
        return f"too long for the model: {refused.detail}"
    except NoteLeaked as leaked:
        return f"the transcript holds the note: {leaked}"


def _chunks(rows: Iterable[NoteRow], size: int) -> Iterator[list[NoteRow]]:
    iterator = iter(rows)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk
