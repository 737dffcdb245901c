"""Held-out judging: the one place where the engine touches the vault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from heldout.gepa.evaluation import Evaluation, Evaluator, Occasion, digest
from heldout.gepa.leaving_out import LEFT_OUT, LeaveOut
from heldout.gepa.record.events import DriftEvent, EvaluationEvent, LeftOutEvent
from heldout.gepa.record.journal import Journal
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.settings import ConfirmSettings
from heldout.gepa.spending import Spent
from heldout.gepa.statistics.agreement.replicates import paired_spread
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Note, NoteLabel
from heldout.splits.hashing import sha256_text
from heldout.splits.heldout.looks import LookKind, LookRequest, LookResult, NoteResult, slots
from heldout.splits.heldout.vault import OpenLook, Vault
from heldout.splits.randomness import shuffled
from heldout.students.student import Outcome


@dataclass(frozen=True)
class HeldoutScores:
    """One block on held-out: a score table and, where the design has a rule, flags a replicate."""

    tables: tuple[ScoreTable, ...]
    flags: tuple[Mapping[str, bool], ...] | None

    def judged(self, threshold: float | None) -> Judged:
        """The scores at a threshold frozen on accept, which is what the gate compares."""
        return Judged(self.tables, threshold=threshold)

    def without(self, left_out: LeaveOut) -> HeldoutScores:
        """The scores without the pairs that have left the figures."""
        return HeldoutScores(tuple(map(left_out.table, self.tables)), self.flags)


@dataclass(frozen=True)
class Confirmation:
    """The winner on held-out.

    `looks`: looks used on this held-out set up to and with this one. `drift`: how far the
    baseline moved when judged afresh, None where another run had bought the look.
    """

    winner: HeldoutScores
    looks: int
    exploratory: bool
    drift: DriftEvent | None


@dataclass(frozen=True)
class HeldoutJudge:
    """Judges blocks on held-out at the confirm settings, each time as a look through the vault.

    `fresh` judges under an occasion of its own, so that the drift check buys its calls anew.
    `look_settings` is everything beside block and target that moves a score.
    """

    vault: Vault
    settings: ConfirmSettings
    journal: Journal
    fresh: Evaluator
    seed: int
    score_range: tuple[float, float]
    target: str
    look_settings: Mapping[str, Any]

    @property
    def planned_looks(self) -> int:
        """Looks planned before the first; each is tested at alpha / this."""
        return self.vault.planned_looks

    def baseline(self, evaluator: Evaluator, block: str) -> HeldoutScores:
        """Judge the baseline before the search; its look is counted apart."""
        with self.vault.look(self._request(LookKind.BASELINE, block)) as look:
            return self._judge(evaluator, block, look, Purpose.BASELINE, None)

    def winner(
        self, evaluator: Evaluator, candidate: str, block: str, baseline: tuple[str, HeldoutScores]
    ) -> Confirmation:
        """Judge the winner, and `confirm.drift_share` of the notes again under the baseline block.

        `baseline` is its block and its scores on held-out. Raises LooksSpent beyond the plan.
        """
        with self.vault.look(self._request(LookKind.WINNER, block)) as look:
            side = self._judge(evaluator, block, look, Purpose.CONFIRM, candidate)
            return Confirmation(
                winner=side,
                looks=self._ordinal(look),
                exploratory=look.look.exploratory,
                drift=self._drift(look.notes, *baseline) if look.own else None,
            )

    def _request(self, kind: LookKind, block: str) -> LookRequest:
        return LookRequest(kind, self.target, sha256_text(block), self.look_settings)

    def _judge(
        self,
        evaluator: Evaluator,
        block: str,
        look: OpenLook,
        purpose: Purpose,
        candidate: str | None,
    ) -> HeldoutScores:
        if not look.own:
            return self._from_stored(evaluator, look, Occasion(purpose, "heldout", candidate))
        evaluations = [
            evaluator.judge(
                block,
                look.notes,
                Occasion(purpose, "heldout", candidate, replicate=replicate),
                samples=self.settings.samples,
            )
            for replicate in range(self.settings.replicates)
        ]
        tables = tuple(evaluator.left_out.table(e.table) for e in evaluations)
        look.close(_result(evaluations, tables, self.vault.labels))
        flags = [e.flags for e in evaluations]
        return HeldoutScores(
            tables, None if None in flags else tuple(f for f in flags if f is not None)
        )

    def _from_stored(
        self, evaluator: Evaluator, look: OpenLook, occasion: Occasion
    ) -> HeldoutScores:
        """A look another run has bought, put on this run's record at no cost."""
        stored = look.stored
        assert stored is not None  # the vault hands out a look of others only when it is closed
        if occasion.purpose is Purpose.BASELINE:
            self._left_out_there(evaluator.left_out, look, stored)
        labels = [label for label in self.vault.labels if evaluator.left_out.keeps(label)]
        runs = range(len(next(iter(stored.notes.values()))))
        tables = []
        for replicate in runs:
            results = {label.id: stored.notes[label.id][replicate] for label in labels}
            scores = {id_: result.score for id_, result in results.items()}
            tables.append(ScoreTable.of(labels, scores))
            self.journal.append(
                EvaluationEvent(
                    purpose=occasion.purpose,
                    split=occasion.split,
                    candidate=occasion.candidate,
                    iteration=occasion.iteration,
                    replicate=replicate,
                    samples=self.settings.samples,
                    block_sha256=look.look.block_sha256,
                    frame_sha256=evaluator.student.frame.sha256,
                    budget=evaluator.budget,
                    scores=scores,
                    flagged=tuple(id_ for id_, result in results.items() if result.flag),
                    violations={i: r.outcome for i, r in results.items() if r.score is None},
                    facts_sha256=None,
                    calls_sha256=stored.calls_sha256,
                    spent=Spent(),
                    bought_by=look.look.run,
                )
            )
        return HeldoutScores(tuple(tables), _stored_flags(labels, stored, len(runs)))

    def _left_out_there(self, left_out: LeaveOut, look: OpenLook, stored: LookResult) -> None:
        """What failed under the baseline when another run bought the look leaves here too."""
        for id_, results in stored.notes.items():
            if all(result.outcome != LEFT_OUT for result in results):
                continue
            left_out.gone.add(id_)
            self.journal.append(
                LeftOutEvent(
                    note=id_,
                    split="heldout",
                    purpose=Purpose.BASELINE,
                    candidate=None,
                    iteration=0,
                    replicate=0,
                    block_sha256=look.look.block_sha256,
                    fault=LEFT_OUT,
                    under_baseline=True,
                    spent=Spent(),
                    bought_by=look.look.run,
                )
            )

    def _ordinal(self, look: OpenLook) -> int:
        """Planned looks used when this one was opened: the file only grows, so it never changes."""
        opened = self.vault.looks.looks()
        place = next(
            i
            for i, other in enumerate(opened)
            if (other.id, other.run) == (look.look.id, look.look.run)
        )
        return slots(opened[: place + 1])

    def _drift(self, notes: Sequence[Note], block: str, side: HeldoutScores) -> DriftEvent:
        """The baseline judged afresh on a seeded share of the notes, beside its stored scores."""
        count = ceil(self.settings.drift_share * len(notes))
        drawn = set(shuffled(sorted(note.id for note in notes), self.seed, "drift")[:count])
        chosen = [note for note in self.fresh.left_out.kept(notes) if note.id in drawn]
        if not chosen:
            return DriftEvent(notes=0, mean_change=None, refuses=False)
        occasion = Occasion(Purpose.DRIFT, "heldout")
        again = self.fresh.judge(block, chosen, occasion, samples=self.settings.samples)
        low, high = self.score_range
        stored = side.tables[0]
        moved = [
            _moved(again.scores[n.id], stored.scores[stored.position[n.id]], high - low)
            for n in chosen
            if again.violations.get(n.id) != Outcome.UNANSWERED
        ]
        mean = round(sum(moved) / len(moved), 9) if moved else 0.0
        level = self.settings.drift_level
        found = DriftEvent(notes=len(moved), mean_change=mean, level=level, refuses=mean > level)
        self.journal.append(found)
        return found


def _moved(now: float | None, before: float | None, width: float) -> float:
    """Change of one score as a share of its range; an answer that came or went counts in full."""
    if now is None or before is None:
        return float(now is not before)
    return abs(now - before) / width


def _result(
    evaluations: Sequence[Evaluation], tables: Sequence[ScoreTable], labels: Sequence[NoteLabel]
) -> LookResult:
    notes = {label.id: tuple(_note_result(e, label.id) for e in evaluations) for label in labels}
    return LookResult(
        notes,
        digest([key for e in evaluations for key in e.calls]),
        figures={
            "paired_omissions": paired_spread(tables, "omission").mean,
            "paired_commissions": paired_spread(tables, "commission").mean,
        },
    )


def _note_result(evaluation: Evaluation, id_: str) -> NoteResult:
    if id_ not in evaluation.scores:
        return NoteResult(None, outcome=LEFT_OUT)
    return NoteResult(
        score=evaluation.scores[id_],
        flag=None if evaluation.flags is None else evaluation.flags[id_],
        outcome=evaluation.violations.get(id_, "ok"),
    )


def _stored_flags(
    labels: Sequence[NoteLabel], stored: LookResult, replicates: int
) -> tuple[Mapping[str, bool], ...] | None:
    if any(r.flag is None for results in stored.notes.values() for r in results):
        return None
    return tuple(
        {label.id: bool(stored.notes[label.id][r].flag) for label in labels}
        for r in range(replicates)
    )
