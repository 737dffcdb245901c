"""Evaluations: one block judged on many notes, put on record, and never judged twice alike."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from heldout.gepa.leaving_out import Evaluated, LeaveOut
from heldout.gepa.record.events import EvaluationEvent, LeftOutEvent
from heldout.gepa.record.journal import Journal
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.spending import Spending
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Note
from heldout.splits.errors import Unanswered
from heldout.splits.hashing import sha256_text
from heldout.students.calls.session import all_answers
from heldout.students.flag_rules import winsorised_mean
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome, Student, unanswered

SCORE_DECIMALS = 9
"""Scores are recorded, compared and hashed at this precision."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """What an evaluation is for: its purpose and split, and for whom and when it was made."""

    purpose: Purpose
    split: str
    candidate: str | None = None
    iteration: int = 0
    replicate: int = 0


@dataclass(frozen=True)
class Evaluation:
    """One block's judgements on some notes; `judgements[i]` are the samples of `notes[i]`."""

    notes: tuple[Note, ...]
    judgements: tuple[tuple[Judgement, ...], ...]

    @cached_property
    def scores(self) -> dict[str, float | None]:
        """Score by note id: the winsorised mean of the samples that have one, else None."""
        return {
            note.id: _score(samples)
            for note, samples in zip(self.notes, self.judgements, strict=True)
        }

    @cached_property
    def table(self) -> ScoreTable:
        """The scores as a table for statistics."""
        return ScoreTable(tuple(n.label for n in self.notes), tuple(self.scores.values()))

    @cached_property
    def flags(self) -> dict[str, bool] | None:
        """Flag by note id by strict majority of samples; None for a design without a rule.

        A sample without an answer does not flag.
        """
        if all(j.flag is None and j.outcome is Outcome.OK for s in self.judgements for j in s):
            return None
        return {
            note.id: 2 * sum(bool(j.flag) for j in samples) > len(samples)
            for note, samples in zip(self.notes, self.judgements, strict=True)
        }

    @cached_property
    def violations(self) -> dict[str, str]:
        """Note id to outcome for every note without a score."""
        return {
            note.id: str(samples[0].outcome)
            for note, samples in zip(self.notes, self.judgements, strict=True)
            if self.scores[note.id] is None
        }

    @cached_property
    def first(self) -> Mapping[str, Judgement]:
        """The first sample of every note, by note id; what traces are written from."""
        return {n.id: s[0] for n, s in zip(self.notes, self.judgements, strict=True)}

    @property
    def calls(self) -> list[str]:
        """Keys of all calls used, in order of notes and samples."""
        return [key for samples in self.judgements for j in samples for key in j.calls]


def _score(samples: Sequence[Judgement]) -> float | None:
    answered = [j.score for j in samples if j.score is not None]
    return round(winsorised_mean(answered), SCORE_DECIMALS) if answered else None


class Evaluator:
    """Judges blocks on notes, concurrently, and writes each evaluation to the journal.

    A judgement is a pure function of (block, note, sample): asked for again, it is the same one.
    `left_out` says which notes may go unanswered, `baseline` is the block that such a note is asked
    under as well; None: it is not asked again. `unanswered` holds the notes that no reply came for,
    by id, with why.
    """

    def __init__(
        self,
        student: Student,
        budget: Budget,
        runner: asyncio.Runner,
        *,
        journal: Journal,
        spending: Spending,
        left_out: LeaveOut | None = None,
        baseline: str | None = None,
    ) -> None:
        self.student, self.budget = student, budget
        self.left_out = LeaveOut() if left_out is None else left_out
        self.unanswered: dict[str, Unanswered] = {}
        self._runner, self._journal, self._spending = runner, journal, spending
        self._baseline = baseline
        self._memo: dict[tuple[str, str, int], Judgement] = {}

    @property
    def calls_by_block(self) -> dict[str, list[str]]:
        """Keys of the calls behind all judgements so far, by the block's SHA-256."""
        found: dict[str, list[str]] = {}
        for (sha, _, _), judgement in self._memo.items():
            found.setdefault(sha, []).extend(judgement.calls)
        return found

    def judge(
        self, block: str, notes: Sequence[Note], occasion: Occasion, *, samples: int
    ) -> Evaluation:
        """Judge `block` on `notes`, `samples` times each, and record it.

        Notes that have left the figures are not judged. Raises what the student raises (Stopped,
        CircuitOpen, InfrastructureFailure) after every call in flight has come back, and
        NotesUnanswered for notes that may not go unanswered; nothing is recorded then.
        """
        return self.judge_together({block: occasion}, notes, samples=samples)[0]

    def judge_together(
        self, blocks: Mapping[str, Occasion], notes: Sequence[Note], *, samples: int
    ) -> list[Evaluation]:
        """Judge several blocks, each on its occasion, note by note beside each other.

        Recorded in the order of `blocks`; see `judge`. A note that leaves the figures under one
        block is in none of those after it.
        """
        judgings = [_Judging(b, sha256_text(b), o, samples) for b, o in blocks.items()]
        notes = self.left_out.kept(notes)
        wanted = [(j, note) for note in notes for j in judgings if note.id not in self._known(j)]
        faults = self._fill(wanted)
        self.left_out.require({note: fault for (_, note), fault in faults.items()})
        return [self._evaluation(judging, notes, faults) for judging in judgings]

    def _evaluation(
        self,
        judging: _Judging,
        notes: Sequence[Note],
        faults: Mapping[tuple[str, str], Unanswered],
    ) -> Evaluation:
        """The evaluation of what has been judged, put on record."""
        known, notes = self._known(judging), self.left_out.kept(notes)
        failed = {note: fault for (sha, note), fault in faults.items() if sha == judging.sha256}
        absent = [note for note in notes if note.id in known or note.id in failed]
        for note in absent:
            self._leave(judging, note, notes, failed.get(note.id))
        missing = unanswered(self.student.frame)
        answers = {note.id: (missing,) * judging.samples for note in absent}
        kept = self.left_out.kept(notes)
        evaluation = Evaluation(
            kept, tuple(answers.get(note.id) or self._samples(judging, note) for note in kept)
        )
        self._record(evaluation, judging)
        return evaluation

    def _known(self, judging: _Judging) -> Mapping[str, LeftOutEvent]:
        """Notes that an earlier session put on record as unanswered, by id."""
        return self.left_out.recorded.get(judging.evaluated, {})

    def _samples(self, judging: _Judging, note: Note) -> tuple[Judgement, ...]:
        return tuple(self._memo[key] for key in judging.keys(note))

    def _fill(self, wanted: Sequence[tuple[_Judging, Note]]) -> dict[tuple[str, str], Unanswered]:
        """Judge what has not been judged, in this order; by block and note, why it has no answer.

        A note of which one sample fails has no judgement at all, so that a resumed run, which does
        not ask it, counts alike.
        """
        keys = {key: pair for pair in wanted for key in pair[0].keys(pair[1])}
        new = {key: pair for key, pair in keys.items() if key not in self._memo}
        answers = self._runner.run(
            all_answers(
                self.student.judge(judging.block, note, self.budget, key[2])
                for key, (judging, note) in new.items()
            )
        )
        found = dict(zip(new, answers, strict=True))
        faults = {key[:2]: a for key, a in found.items() if isinstance(a, Unanswered)}
        judged = {
            k: a for k, a in found.items() if isinstance(a, Judgement) and k[:2] not in faults
        }
        self._memo |= judged
        self._spending.judgements += len(judged)
        self.unanswered |= {note: fault for (_, note), fault in faults.items()}
        return faults

    def _leave(
        self, judging: _Judging, note: Note, notes: Sequence[Note], fault: Unanswered | None
    ) -> None:
        """Put on record that `note` goes unanswered; without a `fault` it is on record already."""
        occasion, earlier = judging.occasion, None
        if fault is None:
            earlier = self.left_out.recorded[judging.evaluated][note.id]
        under_baseline = earlier.under_baseline if earlier else self._fails(judging, note)
        calls = self._calls_beside(judging, note, notes, under_baseline=under_baseline)
        self._journal.append(
            LeftOutEvent(
                note=note.id,
                split=occasion.split,
                purpose=occasion.purpose,
                candidate=occasion.candidate,
                iteration=occasion.iteration,
                replicate=occasion.replicate,
                block_sha256=judging.sha256,
                fault=earlier.fault if earlier else fault.kind if fault else "",
                under_baseline=under_baseline,
                spent=self._spending.settle(calls).rounded(),
            )
        )
        if under_baseline:
            self.left_out.gone.add(note.id)

    def _fails(self, judging: _Judging, note: Note) -> bool:
        """True if `note` is not answered under the baseline either, which is asked now."""
        if self._baseline is None or judging.block == self._baseline:
            return self._baseline is not None
        return bool(self._fill([(judging.under(self._baseline), note)]))

    def _calls_beside(
        self, judging: _Judging, note: Note, notes: Sequence[Note], *, under_baseline: bool
    ) -> list[str]:
        """Keys of calls that no evaluation settles: of the baseline, or of pairs that leave."""
        if under_baseline:
            leaving = [n for n in notes if n.label.twin == note.id != n.id]
            found = [self._memo.get(key) for n in leaving for key in judging.keys(n)]
        elif self._baseline is not None and judging.block != self._baseline:
            again = judging.under(self._baseline)
            self._fill([(again, note)])
            found = list(self._samples(again, note))
        else:
            found = []
        return [key for judgement in found if judgement for key in judgement.calls]

    def _record(self, evaluation: Evaluation, judging: _Judging) -> None:
        occasion, calls = judging.occasion, evaluation.calls
        spent = self._spending.settle(calls)
        facts = sorted({j.facts_digest for s in evaluation.judgements for j in s if j.facts_digest})
        self._journal.append(
            EvaluationEvent(
                purpose=occasion.purpose,
                split=occasion.split,
                candidate=occasion.candidate,
                iteration=occasion.iteration,
                replicate=occasion.replicate,
                samples=judging.samples,
                block_sha256=judging.sha256,
                frame_sha256=self.student.frame.sha256,
                budget=self.budget,
                scores=evaluation.scores,
                flagged=_flagged(evaluation),
                violations=evaluation.violations,
                facts_sha256=digest(facts) if facts else None,
                calls_sha256=digest(calls),
                spent=spent.rounded(),
            )
        )


@dataclass(frozen=True, slots=True)
class _Judging:
    """One block to judge on one occasion, with the samples that make one judging."""

    block: str
    sha256: str
    occasion: Occasion
    samples: int

    @property
    def evaluated(self) -> Evaluated:
        """What tells this evaluation from others."""
        o = self.occasion
        return Evaluated(self.sha256, o.purpose, o.iteration, o.replicate)

    def keys(self, note: Note) -> list[tuple[str, str, int]]:
        """Identities of the judgements of `note`: hash of the block, note, sample."""
        first = self.occasion.replicate * self.samples
        return [(self.sha256, note.id, first + sample) for sample in range(self.samples)]

    def under(self, block: str) -> _Judging:
        """The same of another block."""
        return _Judging(block, sha256_text(block), self.occasion, self.samples)


def _flagged(evaluation: Evaluation) -> tuple[str, ...] | None:
    flags = evaluation.flags
    return None if flags is None else tuple(note for note, flag in flags.items() if flag)


def digest(parts: Sequence[str]) -> str:
    """One hash over call keys or digests, in the order given."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
