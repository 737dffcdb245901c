"""One block at one rung: judged on notes at hand, or as a look of its own through the vault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from heldout.experiments.judging.costs import judging_cost
from heldout.experiments.practice.rungs import Rung, RungResult
from heldout.experiments.practice.session import PromptSession, ReadyPrompt
from heldout.gepa.evaluation import Evaluation, Evaluator, Occasion, digest
from heldout.gepa.leaving_out import LeaveOut
from heldout.gepa.record.events import Deterministic
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.spending import Spending, Spent
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Note
from heldout.splits.hashing import sha256_text
from heldout.splits.heldout.looks import LookKind, LookRequest, LookResult, NoteResult, target_id
from heldout.splits.heldout.vault import OpenLook, Vault
from heldout.students.student import Outcome


@dataclass
class RungJudge:
    """Judges blocks at rungs, each `replicates` times.

    `exploratory` becomes True once a look went beyond the plan. `unanswered` are the notes that no
    reply came for, by id, with why.
    """

    ready: ReadyPrompt
    session: PromptSession
    replicates: int = 1
    exploratory: bool = False
    unanswered: dict[str, str] = field(default_factory=dict)

    def on_notes(self, block: str, rung: Rung, notes: Sequence[Note]) -> RungResult:
        """`block` at `rung` on `notes`."""
        return self._result(self._evaluations(block, rung, notes))

    def on_heldout(self, block: str, rung: Rung, vault: Vault, kind: LookKind) -> RungResult:
        """`block` at `rung` on held-out notes, or what another run has bought of it before.

        Raises LooksSpent beyond the plan.
        """
        settings = {
            "samples": rung.samples,
            "replicates": self.replicates,
            "seed": self.ready.seed,
        }
        target = target_of(self.ready, rung)
        with vault.look(LookRequest(kind, target, sha256_text(block), settings)) as look:
            self.exploratory |= look.look.exploratory and kind is not LookKind.BASELINE
            if not look.own:
                return _stored(look, vault)
            evaluations = self._evaluations(block, rung, look.notes)
            if not any(Outcome.UNANSWERED in e.violations.values() for e in evaluations):
                # An open look is one's own: the same rerun asks what is missing and closes it.
                look.close(_look_result(evaluations))
            return self._result(evaluations)

    def _evaluations(self, block: str, rung: Rung, notes: Sequence[Note]) -> list[Evaluation]:
        evaluator = Evaluator(
            self.session.student,
            rung.budget,
            self.session.judging.runner,
            journal=NullJournal(),
            spending=Spending(lambda _: Spent()),
            left_out=LeaveOut(allowed=None),
        )
        found = [
            evaluator.judge(
                block, notes, Occasion(Purpose.CONFIRM, "rerun", replicate=r), samples=rung.samples
            )
            for r in range(self.replicates)
        ]
        self.unanswered |= {id_: str(why) for id_, why in evaluator.unanswered.items()}
        return found

    def _result(self, evaluations: Sequence[Evaluation]) -> RungResult:
        keys = [
            [key for answer in samples for key in answer.calls]
            for evaluation in evaluations
            for samples in evaluation.judgements
        ]
        flags = tuple(e.flags for e in evaluations if e.flags is not None)
        return RungResult(
            tuple(e.table for e in evaluations),
            flags if len(flags) == len(evaluations) else None,
            judging_cost(keys, self.session.judging.store),
        )


class NullJournal:
    """A journal for judgings whose record is the files of their own command."""

    def append(self, event: Deterministic, /) -> None:
        """Nothing."""


def target_of(ready: ReadyPrompt, rung: Rung) -> str:
    """The look target of a rung: equal to a campaign's where design, model and budget are."""
    pin, prompt = ready.model.pin, ready.prompt
    asked = {"id": pin.id, "temperature": pin.temperature, "parameters": dict(pin.parameters)}
    return target_id(prompt.design, prompt.frame.sha256, asked, asdict(rung.budget))


def _stored(look: OpenLook, vault: Vault) -> RungResult:
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
    return RungResult(tables, None if without else flags, None, look.look.run)


def _look_result(evaluations: Sequence[Evaluation]) -> LookResult:
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
