"""Held-out judging: the one place where the engine touches the vault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from heldout.gepa.statistics.selection import PairKind
from heldout.gepa.statistics.table import ScoreTable
from heldout.gepa.statistics.tests.drift import judge_change
from heldout.splits.benchmark import NoteLabel
from heldout.splits.hashing import sha256_text
from heldout.splits.heldout.looks import LookKind, LookRequest, LookResult, NoteResult, slots
from heldout.splits.heldout.vault import OpenLook, Vault


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
class BaselineBefore:
    """The baseline as it was judged before the search: its block and its scores on held-out."""

    block: str
    scores: HeldoutScores


@dataclass(frozen=True)
class Confirmation:
    """The winner on held-out, and the baseline judged again.

    `again` is None where another run had bought the look and stored no second judging. `looks`:
    looks used on this held-out set up to and with this one. `drift`: how far the baseline moved
    between its two judgings, None without the second.
    """

    winner: HeldoutScores
    again: HeldoutScores | None
    looks: int
    exploratory: bool
    drift: DriftEvent | None


@dataclass(frozen=True)
class HeldoutJudge:
    """Judges blocks on held-out at the confirm settings, each time as a look through the vault.

    `fresh` judges under an occasion of its own, so that a second judging buys its calls anew.
    `look_settings` is everything beside block and target that moves a score. `pairs` are those of
    the primary measure, whose paired figure the drift check watches.
    """

    vault: Vault
    settings: ConfirmSettings
    journal: Journal
    fresh: Evaluator
    seed: int
    score_range: tuple[float, float]
    target: str
    look_settings: Mapping[str, Any]
    pairs: PairKind

    @property
    def planned_looks(self) -> int:
        """Looks planned before the first; each is tested at alpha / this."""
        return self.vault.planned_looks

    def baseline(self, evaluator: Evaluator, block: str) -> HeldoutScores:
        """Judge the baseline before the search; its look is counted apart."""
        with self.vault.look(self._request(LookKind.BASELINE, block)) as look:
            return self._judge(evaluator, block, look, Purpose.BASELINE, None)

    def winner(
        self, evaluator: Evaluator, candidate: str, block: str, before: BaselineBefore
    ) -> Confirmation:
        """Judge the winner, and the baseline again in full; both are one look.

        Concurrent: both afresh and beside each other, call by call. Raises LooksSpent beyond the
        plan.
        """
        with self.vault.look(self._request(LookKind.WINNER, block)) as look:
            again: HeldoutScores | None
            if look.own:
                winner, again = self._both(evaluator, candidate, block, before.block, look)
            else:
                occasion = Occasion(Purpose.CONFIRM, "heldout", candidate)
                winner = self._from_stored(evaluator, look, occasion)
                again = self._again_from_stored(evaluator, look, before.block)
            drift = None
            if again is not None:
                drift = self._drift(before.scores.without(evaluator.left_out), again)
            return Confirmation(
                winner=winner,
                again=again,
                looks=self._ordinal(look),
                exploratory=look.look.exploratory,
                drift=drift,
            )

    def _request(self, kind: LookKind, block: str) -> LookRequest:
        settings = dict(self.look_settings)
        if kind is LookKind.WINNER and self.settings.baseline == "concurrent":
            settings["baseline"] = "concurrent"
        return LookRequest(kind, self.target, sha256_text(block), settings)

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
        look.close(_result(evaluations, evaluator.left_out, self.vault.labels))
        return _scores(evaluations, evaluator.left_out)

    def _both(
        self, evaluator: Evaluator, candidate: str, winner: str, baseline: str, look: OpenLook
    ) -> tuple[HeldoutScores, HeldoutScores]:
        """Winner and baseline of an own look, which is closed with both."""
        replicates, samples = range(self.settings.replicates), self.settings.samples
        again = [Occasion(Purpose.DRIFT, "heldout", replicate=r) for r in replicates]
        won = [Occasion(Purpose.CONFIRM, "heldout", candidate, replicate=r) for r in replicates]
        if self.settings.baseline == "concurrent":
            # The baseline first: what fails under it leaves the figures of both.
            found = [
                self.fresh.judge_together({baseline: a, winner: w}, look.notes, samples=samples)
                for a, w in zip(again, won, strict=True)
            ]
            theirs, ours = ([pair[side] for pair in found] for side in (0, 1))
        else:
            ours = [evaluator.judge(winner, look.notes, w, samples=samples) for w in won]
            theirs = [self.fresh.judge(baseline, look.notes, a, samples=samples) for a in again]
        left_out = evaluator.left_out
        closed = _result(ours, left_out, self.vault.labels)
        look.close(replace(closed, baseline=_results(theirs, self.vault.labels)))
        return _scores(ours, left_out), _scores(theirs, left_out)

    def _from_stored(
        self, evaluator: Evaluator, look: OpenLook, occasion: Occasion
    ) -> HeldoutScores:
        """A look another run has bought, put on this run's record at no cost."""
        stored = look.stored
        assert stored is not None  # the vault hands out a look of others only when it is closed
        if occasion.purpose is Purpose.BASELINE:
            self._left_out_there(evaluator.left_out, look, stored.notes)
        elif stored.baseline is not None:
            self._left_out_there(evaluator.left_out, look, stored.baseline)
        return self._on_record(evaluator, look, occasion, stored.notes, look.look.block_sha256)

    def _again_from_stored(
        self, evaluator: Evaluator, look: OpenLook, block: str
    ) -> HeldoutScores | None:
        """The baseline's second judging as another run bought it beside its winner."""
        stored = look.stored
        assert stored is not None  # as above
        if stored.baseline is None:
            return None
        occasion = Occasion(Purpose.DRIFT, "heldout")
        return self._on_record(evaluator, look, occasion, stored.baseline, sha256_text(block))

    def _on_record(
        self,
        evaluator: Evaluator,
        look: OpenLook,
        occasion: Occasion,
        notes: Mapping[str, tuple[NoteResult, ...]],
        block_sha256: str,
    ) -> HeldoutScores:
        """Results of another run as this run's evaluations, one a replicate."""
        assert look.stored is not None  # the caller has looked
        labels = [label for label in self.vault.labels if evaluator.left_out.keeps(label)]
        runs = range(len(next(iter(notes.values()))))
        tables = []
        for replicate in runs:
            results = {label.id: notes[label.id][replicate] for label in labels}
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
                    block_sha256=block_sha256,
                    frame_sha256=evaluator.student.frame.sha256,
                    budget=evaluator.budget,
                    scores=scores,
                    flagged=tuple(id_ for id_, result in results.items() if result.flag),
                    violations={i: r.outcome for i, r in results.items() if r.score is None},
                    facts_sha256=None,
                    calls_sha256=look.stored.calls_sha256,
                    spent=Spent(),
                    bought_by=look.look.run,
                )
            )
        return HeldoutScores(tuple(tables), _stored_flags(labels, notes, len(runs)))

    def _left_out_there(
        self, left_out: LeaveOut, look: OpenLook, notes: Mapping[str, tuple[NoteResult, ...]]
    ) -> None:
        """What failed under the baseline when another run bought the look leaves here too."""
        for id_, results in notes.items():
            if id_ in left_out.gone or all(result.outcome != LEFT_OUT for result in results):
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

    def _drift(self, before: HeldoutScores, again: HeldoutScores) -> DriftEvent:
        """Did the judge move between the two judgings of the baseline? Put on record."""
        change = judge_change(
            before.tables,
            again.tables,
            select=self.pairs,
            score_range=self.score_range,
            seed=self.seed,
        )
        found = DriftEvent(
            notes=change.notes,
            mean_change=_rounded(change.mean_change),
            score_p=_rounded(change.score_p),
            credit_change=_rounded(change.credit_change),
            credit_p=_rounded(change.credit_p),
            moved=change.moved,
            refuses=change.moved and self.settings.baseline == "before",
        )
        self.journal.append(found)
        return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


def _scores(evaluations: Sequence[Evaluation], left_out: LeaveOut) -> HeldoutScores:
    flags = [e.flags for e in evaluations]
    return HeldoutScores(
        tuple(left_out.table(e.table) for e in evaluations),
        None if None in flags else tuple(f for f in flags if f is not None),
    )


def _result(
    evaluations: Sequence[Evaluation], left_out: LeaveOut, labels: Sequence[NoteLabel]
) -> LookResult:
    tables = [left_out.table(e.table) for e in evaluations]
    return LookResult(
        _results(evaluations, labels),
        digest([key for e in evaluations for key in e.calls]),
        figures={
            "paired_omissions": paired_spread(tables, "omission").mean,
            "paired_commissions": paired_spread(tables, "commission").mean,
        },
    )


def _results(
    evaluations: Sequence[Evaluation], labels: Sequence[NoteLabel]
) -> dict[str, tuple[NoteResult, ...]]:
    return {label.id: tuple(_note_result(e, label.id) for e in evaluations) for label in labels}


def _note_result(evaluation: Evaluation, id_: str) -> NoteResult:
    if id_ not in evaluation.scores:
        return NoteResult(None, outcome=LEFT_OUT)
    return NoteResult(
        score=evaluation.scores[id_],
        flag=None if evaluation.flags is None else evaluation.flags[id_],
        outcome=evaluation.violations.get(id_, "ok"),
    )


def _stored_flags(
    labels: Sequence[NoteLabel], notes: Mapping[str, tuple[NoteResult, ...]], replicates: int
) -> tuple[Mapping[str, bool], ...] | None:
    if any(r.flag is None for results in notes.values() for r in results):
        return None
    return tuple(
        {label.id: bool(notes[label.id][r].flag) for label in labels} for r in range(replicates)
    )
