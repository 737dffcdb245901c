"""One block at one rung: judged on notes at hand, or as a look of its own through the vault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from heldout.experiments.practice.ladder import Rung, Sat
from heldout.experiments.practice.loaded_prompt import Taken
from heldout.experiments.practice.session import Desk
from heldout.experiments.practice.spent import judging_cost
from heldout.gepa.evaluation import Evaluation, Evaluator, Occasion, Purpose, digest
from heldout.gepa.spending import Spending, Spent
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Note
from heldout.splits.hashing import sha256_text
from heldout.splits.heldout.looks import LookKind, LookRequest, LookResult, NoteResult, target_id
from heldout.splits.heldout.vault import OpenLook, Vault
from heldout.students.models.pins import PinnedModel


@dataclass(frozen=True, slots=True)
class Repeats:
    """Replicates of every judging, and the seed all of them follow from."""

    replicates: int
    seed: int


@dataclass
class RungJudge:
    """Judges blocks at rungs; `exploratory` becomes True once a look went beyond the plan."""

    desk: Desk
    taken: Taken
    model: PinnedModel
    repeats: Repeats
    exploratory: bool = False

    def on_notes(self, block: str, rung: Rung, notes: Sequence[Note]) -> Sat:
        """`block` at `rung` on `notes`."""
        return self._sat(self._evaluations(block, rung, notes))

    def on_heldout(self, block: str, rung: Rung, vault: Vault, kind: LookKind) -> Sat:
        """`block` at `rung` on held-out notes, or what another run has bought of it before.

        Raises LooksSpent beyond the plan.
        """
        request = LookRequest(
            kind, target_of(self.taken, self.model, rung), sha256_text(block), self._settings(rung)
        )
        with vault.look(request) as look:
            self.exploratory |= look.look.exploratory and kind is not LookKind.BASELINE
            if not look.own:
                return _stored(look, vault)
            evaluations = self._evaluations(block, rung, look.notes)
            look.close(_result(evaluations))
            return self._sat(evaluations)

    def _settings(self, rung: Rung) -> dict[str, int]:
        repeats = self.repeats
        return {
            "samples": rung.samples,
            "replicates": repeats.replicates,
            "seed": repeats.seed,
        }

    def _evaluations(self, block: str, rung: Rung, notes: Sequence[Note]) -> list[Evaluation]:
        evaluator = Evaluator(
            self.desk.student,
            rung.budget,
            self.desk.runner,
            journal=Unrecorded(),
            spending=Spending(lambda _: Spent()),
        )
        return [
            evaluator.judge(
                block, notes, Occasion(Purpose.CONFIRM, "rerun", replicate=r), samples=rung.samples
            )
            for r in range(self.repeats.replicates)
        ]

    def _sat(self, evaluations: Sequence[Evaluation]) -> Sat:
        keys = [
            [key for answer in samples for key in answer.calls]
            for evaluation in evaluations
            for samples in evaluation.judgements
        ]
        flags = [e.flags for e in evaluations]
        return Sat(
            tuple(e.table for e in evaluations),
            None if None in flags else tuple(f for f in flags if f is not None),
            judging_cost(keys, self.desk.store),
        )


class Unrecorded:
    """A journal for judgings whose record is the ladder's own files."""

    def append(self, kind: str, payload: Any) -> None:
        """Nothing."""


def target_of(taken: Taken, model: PinnedModel, rung: Rung) -> str:
    """The look target of a rung: equal to a campaign's where design, model and budget are."""
    pin = model.pin
    asked = {"id": pin.id, "temperature": pin.temperature, "parameters": dict(pin.parameters)}
    return target_id(taken.design, taken.frame.sha256, asked, asdict(rung.budget))


def _stored(look: OpenLook, vault: Vault) -> Sat:
    """A look that another run has bought, at no cost."""
    assert look.stored is not None  # the vault hands out a look of others only when closed
    notes = look.stored.notes
    replicates = range(len(next(iter(notes.values()))))
    tables = tuple(
        ScoreTable.of(vault.labels, {id_: found[r].score for id_, found in notes.items()})
        for r in replicates
    )
    without = any(r.flag is None and r.score is not None for found in notes.values() for r in found)
    flags = tuple({id_: found[r].flag for id_, found in notes.items()} for r in replicates)
    return Sat(tables, None if without else flags, None, look.look.run)


def _result(evaluations: Sequence[Evaluation]) -> LookResult:
    notes = {
        note.id: tuple(
            NoteResult(
                score=e.scores[note.id],
                flag=None if e.flags is None else e.flags[note.id],
                outcome=e.violations.get(note.id, "ok"),
            )
            for e in evaluations
        )
        for note in evaluations[0].notes
    }
    return LookResult(notes, digest([key for e in evaluations for key in e.calls]))
