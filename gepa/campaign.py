"""A campaign from data to a held-out decision, phase by phase.

The order is the point: the held-out baseline is bought before the search, the winner is chosen on
accept, and the held-out set is looked at once more only if accept says that it is worth it. The
prompt file exists only after the gate has passed it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

from heldout.gepa.acceptance import Acceptance
from heldout.gepa.candidates import Candidate, Origin, Pool, Status
from heldout.gepa.confirmation import BaselineBefore, HeldoutJudge, HeldoutScores
from heldout.gepa.emission import emit, withdraw
from heldout.gepa.evaluation import Evaluation, Evaluator, Occasion
from heldout.gepa.freezing import Freezer, Frozen
from heldout.gepa.frontier import Frontier, valuation
from heldout.gepa.gate.decide import decide, not_confirmed, pre_gate
from heldout.gepa.gate.outcome import (
    CampaignResult,
    Compared,
    HeldoutResult,
    card_body,
    gate_event,
)
from heldout.gepa.gate.rules import Rule
from heldout.gepa.gate.settings import GateSettings, primary_pairs
from heldout.gepa.leaving_out import LeaveOut
from heldout.gepa.minibatch import Minibatch
from heldout.gepa.objective import Objective, best
from heldout.gepa.record.codec import encode
from heldout.gepa.record.events import (
    FinishedEvent,
    GateEvent,
    MeasuresPair,
    PartitionEvent,
    PhaseEvent,
    PreGateEvent,
    SettingsEvent,
    WinnerEvent,
)
from heldout.gepa.record.files import write_whole
from heldout.gepa.record.journal import RunJournal
from heldout.gepa.record.kinds import FinishReason, Phase, Purpose
from heldout.gepa.record.run import Run
from heldout.gepa.reward import Reward
from heldout.gepa.search import Search, candidate_event, scores_of
from heldout.gepa.settings import ConfirmSettings, SearchSettings, freezes_again
from heldout.gepa.spending import Spending
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import Measures
from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.word_control import control_event, word_count_table, word_counts, word_judge
from heldout.reflectors.guard import Guard
from heldout.reflectors.reflector import Reflector
from heldout.splits.benchmark import Consultation, Note
from heldout.splits.hashing import sha256_text
from heldout.students.models.chat import Budget
from heldout.students.student import Student


@dataclass(frozen=True, slots=True)
class Seed:
    """A named block the search starts from."""

    name: str
    block: str


@dataclass(kw_only=True)
class Campaign:
    """One campaign; `run` goes from the partition to the decision and writes what it finds.

    Everything it works with is built and checked before its first call. `baseline` names the seed
    that the winner is compared with; `hold` reserves the cost of the confirmation before the
    search, `release` gives it back after it; `facts` are plain values that go on the card as they
    are (models, data digests).
    """

    name: str
    seed: int
    run_dir: Path
    reflect: tuple[Consultation, ...]
    accept: tuple[Note, ...]
    heldout: HeldoutJudge
    student: Student
    budget: Budget
    reflector: Reflector
    guard: Guard
    seeds: tuple[Seed, ...]
    baseline: str
    reward: Reward
    acceptance: Acceptance
    objective: Objective
    minibatch: Minibatch
    rule: Rule | None
    search: SearchSettings
    confirm: ConfirmSettings
    gate: GateSettings
    journal: RunJournal
    spending: Spending
    runner: asyncio.Runner
    hold: Callable[[], None]
    release: Callable[[], None]
    partition: PartitionEvent
    facts: Mapping[str, Any]
    simulated: bool
    left_out: LeaveOut
    pool: Pool = field(default_factory=Pool)
    evaluator: Evaluator = field(init=False)

    def __post_init__(self) -> None:
        self.evaluator = Evaluator(
            self.student,
            self.budget,
            self.runner,
            journal=self.journal,
            spending=self.spending,
            left_out=self.left_out,
            baseline=self._baseline_block(),
        )

    def run(self) -> None:
        """Run to the decision. Raises Stopped or CircuitOpen, after which it can be resumed."""
        self.conclude(self.explore())

    def explore(self) -> CampaignResult:
        """Everything up to the held-out figures of the winner; nothing is decided yet."""
        self._verify_partition()
        baseline = self._heldout_baseline()
        frontier = self._score_seeds()
        self.hold()
        reason = self._search(frontier)
        winner = self._choose()
        self.release()
        return self._confirm(winner, baseline, reason)

    def conclude(self, result: CampaignResult) -> None:
        """Put the decision on record; emit the winner if it passed, and nothing else."""
        decision = self._decided(result)
        if decision.decision == "emitted":
            self._emit(result, decision)
        self._finish(result.reason, decision)

    # -- phases ----------------------------------------------------------------------------------

    def _verify_partition(self) -> None:
        self._phase(Phase.PARTITION)
        self.journal.append(self.partition)
        self.journal.append(
            SettingsEvent(
                seeds={seed.name: sha256_text(seed.block) for seed in self.seeds},
                baseline=self.baseline,
                search=self.search,
                confirm=self.confirm,
                gate=self.gate,
                reward=_described(self.reward),
                acceptance=_described(self.acceptance),
                objective=_described(self.objective),
                budget=self.budget,
                frame_sha256=self.student.frame.sha256,
            )
        )
        labels = [note.label for note in self.accept]
        self.journal.append(control_event("accept", labels, word_counts(self.accept)))
        vault = self.heldout.vault
        self.journal.append(control_event("heldout", vault.labels, vault.words))

    def _heldout_baseline(self) -> HeldoutScores:
        self._phase(Phase.BASELINE)
        return self.heldout.baseline(self.evaluator, self._baseline_block())

    def _score_seeds(self) -> Frontier:
        self._phase(Phase.SEEDS)
        for seed in self.seeds:
            occasion = Occasion(Purpose.SEED, "accept", self.pool.next_id)
            accept = self.evaluator.judge(
                seed.block, self.accept, occasion, samples=self.search.samples
            )
            candidate = self._seed_candidate(seed, accept)
            self.pool.add(candidate)
            self.journal.append(candidate_event(candidate, None))
        self._leave_out_of_seeds()
        labels = [note.label for note in self.left_out.kept(self.accept)]
        frontier = Frontier(valuation(self.search.frontier, labels, self.reward))
        for candidate in self.pool:
            frontier.add(candidate.id, scores_of(candidate))
        return frontier

    def _leave_out_of_seeds(self) -> None:
        """Take what failed under the baseline out of the seeds that were judged before it.

        Their figures are put on record anew. Later no accept pair leaves: the baseline has its
        answers by then.
        """
        for candidate in self.pool.without(self.left_out.table):
            self.journal.append(candidate_event(candidate, None))

    def _seed_candidate(self, seed: Seed, accept: Evaluation) -> Candidate:
        return Candidate(
            id=self.pool.next_id,
            kind=Origin.SEED,
            parents=(),
            iteration=0,
            status=Status.ENTERED,
            block=seed.block,
            sha256=sha256_text(seed.block),
            length=len(seed.block),
            name=seed.name,
            accept=accept.table,
            flags=accept.flags,
        )

    def _search(self, frontier: Frontier) -> FinishReason:
        self._phase(Phase.SEARCH)
        search = Search(
            seed=self.seed,
            reflect=self.reflect,
            accept=self.accept,
            evaluator=self.evaluator,
            reflector=self.reflector,
            guard=self.guard,
            reward=self.reward,
            acceptance=self.acceptance,
            objective=self.objective,
            minibatch=self.minibatch,
            settings=self.search,
            journal=self.journal,
            runner=self.runner,
            spending=self.spending,
            pool=self.pool,
            frontier=frontier,
        )
        return search.run()

    def _choose(self) -> Candidate:
        self._phase(Phase.WINNER)
        winner = best(self.pool.entered, self.objective)
        wrote = (c.sha256 for c in self.pool if c.kind is not Origin.SEED and c.sha256)
        self.heldout.vault.note_blocks(wrote)
        self.journal.append(
            WinnerEvent(
                id=winner.id,
                kind=winner.kind,
                iteration=winner.iteration,
                sha256=winner.sha256,
                accept=MeasuresPair(
                    baseline=self._accept_measures(self._baseline_candidate()),
                    winner=self._accept_measures(winner),
                ),
            )
        )
        return winner

    def _confirm(
        self, winner: Candidate, baseline: HeldoutScores, reason: FinishReason
    ) -> CampaignResult:
        """Look at held-out for the winner, if accept says that it is worth it."""
        self._phase(Phase.CONFIRM)
        if winner.kind is Origin.SEED:
            none = reason is FinishReason.NO_PROPOSAL
            return self._unconfirmed(winner, reason, "no_proposal" if none else "seed_won")
        sides = (winner, self._baseline_candidate())
        ours, theirs = (self.freezer.of_search(side).judged for side in sides)
        bought = pre_gate(ours, theirs, self.gate, primary=self.search.primary)
        self.journal.append(PreGateEvent(**vars(bought)))
        if not bought.buys:
            return self._unconfirmed(winner, reason, "pre_gate")
        frozen = [self._frozen(side) for side in sides]
        assert winner.block is not None  # entered candidates keep their text
        confirmation = self.heldout.winner(
            self.evaluator,
            winner.id,
            winner.block,
            BaselineBefore(self._baseline_block(), baseline),
        )
        beside = confirmation.again
        baseline = baseline.without(self.left_out)
        if beside is not None and self.confirm.baseline == "concurrent":
            baseline, beside = beside, baseline
        self._phase(Phase.GATE)
        found = HeldoutResult(
            confirmation,
            baseline,
            beside,
            Compared(
                confirmation.winner.judged(frozen[0].judged.threshold),
                baseline.judged(frozen[1].judged.threshold),
            ),
            accept=frozen[0].measures(self.gate.cap),
        )
        decision = decide(
            found.compared.winner,
            found.compared.baseline,
            self.gate,
            primary=self.search.primary,
            planned_looks=self.heldout.planned_looks,
            seed=self.seed,
            rule=self.rule,
            words=self._words(),
        )
        return CampaignResult(winner, reason, decision, found)

    def _unconfirmed(self, winner: Candidate, reason: FinishReason, why: str) -> CampaignResult:
        return CampaignResult(winner, reason, not_confirmed(why, self.gate))

    def _frozen(self, candidate: Candidate) -> Frozen:
        """A block on accept at the settings of the confirmation."""
        if not freezes_again(self.search, self.confirm):
            return self.freezer.of_search(candidate)
        return self.freezer.at_confirm(candidate, self.accept, self.evaluator, self.confirm)

    def _words(self) -> Judged:
        """The word count on held-out, over the notes that are in the figures."""
        vault, pairs = self.heldout.vault, primary_pairs(self.search.primary)
        labels = [note.label for note in self.left_out.kept(self.accept)]
        accept = word_count_table(labels, word_counts(self.accept))
        heldout = self.left_out.table(word_count_table(vault.labels, vault.words))
        return word_judge(accept, heldout, self.gate.cap, pairs)

    def _emit(self, result: CampaignResult, decision: GateEvent) -> None:
        self._phase(Phase.EMIT)
        winner, found = result.winner, result.found
        assert winner.block is not None
        assert found is not None  # nothing is emitted without a look
        emitted = emit(
            self.run_dir,
            self.name,
            frame=self.student.frame,
            block=winner.block,
            card=card_body(
                decision,
                accept=found.accept,
                run={
                    "campaign": self.name,
                    "candidate": winner.id,
                    "block_sha256": winner.sha256,
                    "frame_sha256": self.student.frame.sha256,
                    "journal_head": self.journal.mark,
                    **self.facts,
                    "student_budget": asdict(self.budget),
                },
                spent=self.spending.total,
                caveats=(*self.partition.seen_before, *self.partition.caveats),
                left_out=Run.of(self.journal.events).left_out,
            ),
        )
        self.journal.append(emitted)

    def _finish(self, reason: FinishReason, decision: GateEvent) -> None:
        self.journal.append(
            FinishedEvent(
                finish_reason=reason,
                decision=decision.decision,
                reason=decision.reason,
                lineage_sha256=Run.of(self.journal.events).lineage_sha256,
                spent=self.spending.total.rounded(),
                judgements=self.spending.judgements,
            )
        )

    # -- pieces ----------------------------------------------------------------------------------

    def _phase(self, phase: Phase) -> None:
        self.journal.append(PhaseEvent(name=phase))

    def _decided(self, result: CampaignResult) -> GateEvent:
        """Put the decision on record and beside the run; nothing of an older emission remains."""
        vault = self.heldout.vault
        decision = gate_event(
            result,
            self.gate,
            word_count=paired(
                self.left_out.table(word_count_table(vault.labels, vault.words))
            ).value,
            clean_means=self.partition.benchmark.clean_means,
            simulated=self.simulated,
        )
        if decision.decision != "emitted":
            withdraw(self.run_dir)
        self.journal.append(decision)
        text = json.dumps(encode(decision), indent=2, ensure_ascii=False) + "\n"
        write_whole(self.run_dir / "gate.json", text)
        return decision

    def _baseline_block(self) -> str:
        return next(s.block for s in self.seeds if s.name == self.baseline)

    def _baseline_candidate(self) -> Candidate:
        return next(c for c in self.pool if c.name == self.baseline)

    @property
    def freezer(self) -> Freezer:
        """What freezes thresholds on accept."""
        return Freezer(self.gate.cap, primary_pairs(self.search.primary))

    def _accept_measures(self, candidate: Candidate) -> Measures:
        return self.freezer.of_search(candidate).measures(self.gate.cap)


def _described(strategy: object) -> dict[str, Any]:
    """A strategy as its name and its fields; of a person's own, what it stands around."""
    strategy = getattr(strategy, "part", strategy)
    fields = asdict(strategy) if is_dataclass(strategy) else {}  # type: ignore[arg-type]
    return {"name": type(strategy).__name__, **fields}
