"""A campaign from data to a held-out decision, phase by phase.

The order is the point: the held-out baseline is bought before the search, the winner is chosen on
accept, and the held-out set is looked at once more only if accept says that it is worth it. The
prompt file exists only after the gate has passed it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from heldout.gepa.candidates import Candidate, Origin, Pool, Status
from heldout.gepa.confirmation import HeldoutScores
from heldout.gepa.emission import emit, withdraw
from heldout.gepa.evaluation import Evaluation, Evaluator, Occasion
from heldout.gepa.frontier import Frontier, raw_reward, win_tie_loss
from heldout.gepa.gate.decide import decide, pre_gate
from heldout.gepa.gate.outcome import (
    Compared,
    HeldoutResult,
    Outcome,
    card_body,
    gate_event,
    measures_of,
)
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.objective import best
from heldout.gepa.parts import Parts, Seed
from heldout.gepa.record.codec import encode
from heldout.gepa.record.events import (
    FinishedEvent,
    FinishReason,
    GateEvent,
    MeasuresPair,
    Phase,
    PhaseEvent,
    PreGateEvent,
    Purpose,
    SettingsEvent,
    WinnerEvent,
)
from heldout.gepa.record.files import write_whole
from heldout.gepa.record.run import Run
from heldout.gepa.search import Search, SearchParts, candidate_event, scores_of
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import Measures
from heldout.gepa.statistics.rates.detection import swept
from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.word_control import control_event, word_count_table, word_counts
from heldout.splits.hashing import sha256_text


class Campaign:
    """One campaign; `run` goes from the partition to the decision and writes what it finds."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.journal = parts.journal
        self.evaluator = Evaluator(
            parts.student,
            parts.budget,
            parts.runner,
            journal=parts.journal,
            spending=parts.spending,
        )
        self.pool = Pool()

    def run(self) -> None:
        """Run to the decision. Raises Stopped or CircuitOpen, after which it can be resumed."""
        self.conclude(self.explore())

    def explore(self) -> Outcome:
        """Everything up to the held-out figures of the winner; nothing is decided yet."""
        self._verify_partition()
        baseline = self._heldout_baseline()
        frontier = self._score_seeds()
        self.parts.held.hold()
        reason = self._search(frontier)
        winner = self._choose()
        self.parts.held.release()
        return self._confirm(winner, baseline, reason)

    def conclude(self, outcome: Outcome) -> None:
        """Put the decision on record; emit the winner if it passed, and nothing else."""
        decision = self._decided(outcome)
        if decision.decision == "emitted":
            self._emit(outcome.winner, decision)
        self._finish(outcome.reason, decision)

    # -- phases ----------------------------------------------------------------------------------

    def _verify_partition(self) -> None:
        self._phase(Phase.PARTITION)
        p = self.parts
        self.journal.append(p.partition)
        self.journal.append(
            SettingsEvent(
                seeds={seed.name: sha256_text(seed.block) for seed in p.seeds},
                baseline=p.baseline,
                search=p.search,
                confirm=p.confirm,
                gate=p.gate,
                reward=_described(p.reward),
                acceptance=_described(p.acceptance),
                objective=_described(p.objective),
                budget=p.budget,
                frame_sha256=p.student.frame.sha256,
            )
        )
        labels = [note.label for note in p.accept]
        self.journal.append(control_event("accept", labels, word_counts(p.accept)))
        vault = p.heldout.vault
        self.journal.append(control_event("heldout", vault.labels, vault.words))

    def _heldout_baseline(self) -> HeldoutScores:
        self._phase(Phase.BASELINE)
        return self.parts.heldout.baseline(self.evaluator, self._baseline_block())

    def _score_seeds(self) -> Frontier:
        self._phase(Phase.SEEDS)
        p = self.parts
        labels = [note.label for note in p.accept]
        frontier = Frontier(
            win_tie_loss(labels)
            if p.search.frontier == "win_tie_loss"
            else raw_reward(labels, p.reward)
        )
        for seed in p.seeds:
            occasion = Occasion(Purpose.SEED, "accept", self.pool.next_id)
            accept = self.evaluator.judge(seed.block, p.accept, occasion, samples=p.search.samples)
            candidate = self._seed_candidate(seed, accept)
            self.pool.add(candidate)
            frontier.add(candidate.id, scores_of(candidate))
            self.journal.append(candidate_event(candidate, None))
        return frontier

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
        p = self.parts
        parts = SearchParts(
            seed=p.seed,
            reflect=p.reflect,
            accept=p.accept,
            evaluator=self.evaluator,
            reflector=p.reflector,
            guard=p.guard,
            reward=p.reward,
            acceptance=p.acceptance,
            objective=p.objective,
            settings=p.search,
            journal=self.journal,
            runner=p.runner,
            spending=p.spending,
        )
        return Search(parts, self.pool, frontier).run()

    def _choose(self) -> Candidate:
        self._phase(Phase.WINNER)
        winner = best(self.pool.entered, self.parts.objective)
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

    def _confirm(self, winner: Candidate, baseline: HeldoutScores, reason: FinishReason) -> Outcome:
        """Look at held-out for the winner, if accept says that it is worth it."""
        p = self.parts
        self._phase(Phase.CONFIRM)
        if winner.kind is Origin.SEED:
            return Outcome(winner, reason, refusal="seed_won")
        on_accept = Compared(self._on_accept(winner), self._on_accept(self._baseline_candidate()))
        bought = pre_gate(on_accept.winner, on_accept.baseline, p.gate, primary=p.search.primary)
        self.journal.append(PreGateEvent(**vars(bought)))
        if not bought.buys:
            return Outcome(winner, reason, refusal="pre_gate")
        assert winner.block is not None  # entered candidates keep their text
        confirmation = p.heldout.winner(
            self.evaluator, winner.id, winner.block, (self._baseline_block(), baseline)
        )
        self._phase(Phase.GATE)
        found = HeldoutResult(
            confirmation,
            baseline,
            Compared(
                confirmation.winner.judged(on_accept.winner.threshold),
                baseline.judged(on_accept.baseline.threshold),
            ),
        )
        decision = decide(
            found.compared.winner,
            found.compared.baseline,
            p.gate,
            primary=p.search.primary,
            planned_looks=p.heldout.planned_looks,
            seed=p.seed,
        )
        return Outcome(winner, reason, found=found, decision=decision)

    def _emit(self, winner: Candidate, decision: GateEvent) -> None:
        self._phase(Phase.EMIT)
        p = self.parts
        assert winner.block is not None
        emitted = emit(
            p.run_dir,
            p.name,
            frame=p.student.frame,
            block=winner.block,
            card=card_body(
                decision,
                accept=self._accept_measures(winner),
                run={
                    "campaign": p.name,
                    "candidate": winner.id,
                    "block_sha256": winner.sha256,
                    "frame_sha256": p.student.frame.sha256,
                    "journal_head": self.journal.mark,
                    **p.facts,
                    "student_budget": asdict(p.budget),
                },
                spent=p.spending.total,
                caveats=p.partition.caveats,
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
                spent=self.parts.spending.total.rounded(),
                judgements=self.parts.spending.judgements,
            )
        )

    # -- pieces ----------------------------------------------------------------------------------

    def _phase(self, phase: Phase) -> None:
        self.journal.append(PhaseEvent(name=phase))

    def _decided(self, outcome: Outcome) -> GateEvent:
        """Put the decision on record and beside the run; nothing of an older emission remains."""
        p, vault = self.parts, self.parts.heldout.vault
        decision = gate_event(
            outcome,
            p.gate,
            word_count=paired(word_count_table(vault.labels, vault.words)).value,
            clean_means=p.partition.benchmark.clean_means,
            simulated=p.simulated,
        )
        if decision.decision != "emitted":
            withdraw(p.run_dir)
        self.journal.append(decision)
        text = json.dumps(encode(decision), indent=2, ensure_ascii=False) + "\n"
        write_whole(p.run_dir / "gate.json", text)
        return decision

    def _baseline_block(self) -> str:
        return next(s.block for s in self.parts.seeds if s.name == self.parts.baseline)

    def _baseline_candidate(self) -> Candidate:
        return next(c for c in self.pool if c.name == self.parts.baseline)

    def _on_accept(self, candidate: Candidate) -> Judged:
        """A candidate's accept scores with the threshold that is frozen there."""
        assert candidate.accept is not None
        pairs = primary_pairs(self.parts.search.primary)
        threshold = swept(candidate.accept, self.parts.gate.cap, pairs).threshold
        return Judged.once(candidate.accept, threshold=threshold)

    def _accept_measures(self, candidate: Candidate) -> Measures:
        flags = None if candidate.flags is None else (candidate.flags,)
        return measures_of(self._on_accept(candidate), flags, self.parts.gate.cap)


def _described(strategy: object) -> dict[str, Any]:
    """A strategy as its name and its fields."""
    return {"name": type(strategy).__name__, **asdict(strategy)}  # type: ignore[call-overload]
