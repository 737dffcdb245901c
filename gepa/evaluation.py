"""Evaluations: one block judged on many notes, put on record, and never judged twice alike."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from heldout.gepa.record.events import EvaluationEvent
from heldout.gepa.record.journal import Journal
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.spending import Spending
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Note
from heldout.splits.hashing import sha256_text
from heldout.students.flag_rules import winsorised_mean
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome, Student

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
    """

    def __init__(
        self,
        student: Student,
        budget: Budget,
        runner: asyncio.Runner,
        *,
        journal: Journal,
        spending: Spending,
    ) -> None:
        self.student, self.budget = student, budget
        self._runner, self._journal, self._spending = runner, journal, spending
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

        Raises what the student raises (Stopped, CircuitOpen, InfrastructureFailure) after every
        call in flight has come back; nothing is recorded then.
        """
        sha = sha256_text(block)
        first = occasion.replicate * samples
        wanted = [(sha, n.id, first + s) for n in notes for s in range(samples)]
        by_id = {note.id: note for note in notes}
        missing = [key for key in dict.fromkeys(wanted) if key not in self._memo]
        self._runner.run(self._fill(block, missing, by_id))
        answers = [self._memo[key] for key in wanted]
        evaluation = Evaluation(
            tuple(notes),
            tuple(tuple(answers[i : i + samples]) for i in range(0, len(answers), samples)),
        )
        self._record(evaluation, sha, occasion, samples)
        return evaluation

    async def _fill(
        self, block: str, keys: Sequence[tuple[str, str, int]], notes: Mapping[str, Note]
    ) -> None:
        async def one(key: tuple[str, str, int]) -> None:
            _, note, sample = key
            self._memo[key] = await self.student.judge(block, notes[note], self.budget, sample)

        # Every call in flight comes back before a fault is raised, so that its reply is stored.
        results = await asyncio.gather(*map(one, keys), return_exceptions=True)
        faults = [result for result in results if result is not None]
        if faults:
            raise max(faults, key=lambda fault: getattr(fault, "exit_status", 0))
        self._spending.judgements += len(keys)

    def _record(self, evaluation: Evaluation, sha: str, occasion: Occasion, samples: int) -> None:
        calls = evaluation.calls
        spent = self._spending.settle(calls)
        facts = sorted({j.facts_digest for s in evaluation.judgements for j in s if j.facts_digest})
        self._journal.append(
            EvaluationEvent(
                purpose=occasion.purpose,
                split=occasion.split,
                candidate=occasion.candidate,
                iteration=occasion.iteration,
                replicate=occasion.replicate,
                samples=samples,
                block_sha256=sha,
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


def _flagged(evaluation: Evaluation) -> tuple[str, ...] | None:
    flags = evaluation.flags
    return None if flags is None else tuple(note for note, flag in flags.items() if flag)


def digest(parts: Sequence[str]) -> str:
    """One hash over call keys or digests, in the order given."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
