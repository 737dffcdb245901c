"""The search: draw a minibatch, ask for a rewrite or a merge, keep it if it helps.

One iteration makes at most one candidate. Everything drawn is a pure function of seed and
iteration, everything measured goes through the evaluator, everything decided is journalled, so
that running the loop again on the stored calls gives the same lineage.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from heldout.gepa.acceptance import Acceptance, MinibatchComparison, compare
from heldout.gepa.candidates import Candidate, Origin, Pool, Status
from heldout.gepa.evaluation import Evaluator, Occasion
from heldout.gepa.frontier import Frontier
from heldout.gepa.minibatch import Minibatch
from heldout.gepa.objective import Objective, Rank
from heldout.gepa.proposing import Parent, merge, rewrite
from heldout.gepa.record.events import CandidateEvent, IterationEvent, MergeCounters, SearchEndEvent
from heldout.gepa.record.journal import Journal
from heldout.gepa.record.kinds import FinishReason, Purpose
from heldout.gepa.reward import Reward
from heldout.gepa.settings import SearchSettings
from heldout.gepa.spending import Spending
from heldout.gepa.statistics.measures import measures_of_table
from heldout.reflectors.guard import Guard
from heldout.reflectors.reflector import Proposal, Reflector
from heldout.splits.benchmark import Consultation, Note
from heldout.splits.hashing import sha256_text
from heldout.splits.randomness import choice, uniform

MINIBATCH = "minibatch"
"""Reason of a candidate that did not improve its parent's minibatch."""

FULL_POOL = "full_pool"
"""Reason of a candidate that passed the minibatch and was not admitted on accept."""


@dataclass(frozen=True)
class Tried:
    """A proposal with the blocks it came from, on its way to becoming a candidate."""

    kind: Origin
    iteration: int
    notes: tuple[Note, ...]
    parents: tuple[Parent, ...]
    proposal: Proposal


@dataclass(kw_only=True)
class Search:
    """One search: what it works with, all built before the first call, and how far it has come.

    `pool` and `frontier` hold the seeds, scored on accept, when it begins.
    """

    seed: int
    reflect: tuple[Consultation, ...]
    accept: tuple[Note, ...]
    evaluator: Evaluator
    reflector: Reflector
    guard: Guard
    reward: Reward
    acceptance: Acceptance
    objective: Objective
    minibatch: Minibatch
    settings: SearchSettings
    journal: Journal
    runner: asyncio.Runner
    spending: Spending
    pool: Pool
    frontier: Frontier
    merges: MergeCounters = field(default_factory=MergeCounters)
    since_best: int = 0
    usable: int = 0
    """Proposals that the guard let through to a minibatch."""
    best: Rank = field(init=False)

    def __post_init__(self) -> None:
        self.best = max(self._rank(candidate) for candidate in self.pool.entered)

    def run(self) -> FinishReason:
        """Iterate until a limit is reached; returns which, or that no proposal was usable."""
        reason = FinishReason.ITERATIONS
        for iteration in range(1, self.settings.iterations + 1):
            limit = self._limit()
            if limit is not None:
                reason = limit
                break
            self._iterate(iteration)
        if not self.usable and len(self.pool) > len(self.pool.entered):
            reason = FinishReason.NO_PROPOSAL
        self.journal.append(SearchEndEvent(reason=reason, merges=replace(self.merges)))
        return reason

    def _limit(self) -> FinishReason | None:
        """The soft limit that forbids another iteration, on what has been settled so far."""
        s, spending = self.settings, self.spending
        if self.since_best >= s.stall:
            return FinishReason.STALL
        if s.stop_usd is not None and (spending.total.usd or 0.0) >= s.stop_usd:
            return FinishReason.STOP_USD
        if s.max_judgements is not None:
            # Both parents of a merge and the child on the minibatch, then the child on accept.
            largest = (3 * self.minibatch.largest + len(self.accept)) * s.samples
            if spending.judgements + largest > s.max_judgements:
                return FinishReason.MAX_JUDGEMENTS
        return None

    def _iterate(self, iteration: int) -> None:
        kept = self.evaluator.left_out.kept
        notes = kept(self.minibatch.draw(self.reflect, self.seed, MINIBATCH, iteration))
        couple = self._merge_couple(iteration)
        ids = couple or (self.frontier.draw(self.seed, "parent", iteration),)
        parents = tuple(self._judge_parent(id_, notes, iteration) for id_ in ids)
        notes = kept(notes)
        tried = Tried(
            kind=Origin.MERGE if couple else Origin.MUTATION,
            iteration=iteration,
            notes=notes,
            parents=parents,
            proposal=self._propose(iteration, notes, parents),
        )
        self.spending.settle(tried.proposal.calls)
        candidate, comparison = self._try(tried)
        self._commit(tried, candidate, comparison)

    # -- parents ---------------------------------------------------------------------------------

    def _merge_couple(self, iteration: int) -> tuple[str, str] | None:
        """Two frontier candidates that lead different accept notes, when a merge is due."""
        s, seed = self.settings, self.seed
        if len(self.pool.entered) < s.merge_from or self.merges.built >= s.max_merges:
            return None
        if uniform(seed, "merge", iteration) >= s.merge_probability:
            return None
        self.merges.scheduled += 1
        first = self.frontier.draw(seed, "merge-first", iteration)
        others = self.frontier.complementary(first)
        if not others:
            self.merges.ineligible += 1
            return None
        self.merges.built += 1
        return first, choice(others, seed, "merge-second", iteration)

    def _judge_parent(self, id_: str, notes: tuple[Note, ...], iteration: int) -> Parent:
        block = self._block(id_)
        occasion = Occasion(Purpose.PARENT, "reflect", id_, iteration)
        evaluation = self.evaluator.judge(block, notes, occasion, samples=self.settings.samples)
        return Parent(id_, block, evaluation)

    def _block(self, id_: str) -> str:
        block = next(c.block for c in self.pool.entered if c.id == id_)
        assert block is not None  # entered candidates keep their text
        return block

    # -- the proposal ----------------------------------------------------------------------------

    def _propose(
        self, iteration: int, notes: tuple[Note, ...], parents: tuple[Parent, ...]
    ) -> Proposal:
        item, runner, reflector = f"i{iteration:03d}", self.runner, self.reflector
        if len(parents) == 2:
            return merge(runner, reflector, item, notes, (parents[0], parents[1]))
        return rewrite(runner, reflector, item, notes, parents[0])

    def _try(self, tried: Tried) -> tuple[Candidate, MinibatchComparison | None]:
        """The candidate that a proposal becomes, and how it did on the minibatch."""
        block = tried.proposal.block
        rejection = self.guard.check(
            block, self.pool.by_fingerprint, tuple(parent.block for parent in tried.parents)
        )
        candidate = self._rejected(tried)
        if rejection is not None:
            kept = None if rejection.withholds_text else block
            reason, detail = rejection.reason, rejection.detail
            return replace(candidate, block=kept, reason=reason, detail=detail), None
        assert block is not None  # the guard rejects a proposal without a block
        comparison = self._compare(tried, block)
        if not self.acceptance.accepts(comparison):
            return candidate, comparison
        occasion = Occasion(Purpose.ACCEPT, "accept", candidate.id, tried.iteration)
        accept = self.evaluator.judge(block, self.accept, occasion, samples=self.settings.samples)
        parents = [c for c in self.pool.entered if c.id in candidate.parents]
        ranks = [self._rank(parent) for parent in parents]
        if not self.acceptance.admits(self.objective.rank(accept.table), max(ranks)):
            return replace(candidate, reason=FULL_POOL), comparison
        entered = replace(
            candidate, status=Status.ENTERED, reason=None, accept=accept.table, flags=accept.flags
        )
        return entered, comparison

    def _rejected(self, tried: Tried) -> Candidate:
        block = tried.proposal.block
        return Candidate(
            id=self.pool.next_id,
            kind=tried.kind,
            parents=tuple(parent.id for parent in tried.parents),
            iteration=tried.iteration,
            status=Status.REJECTED,
            block=block,
            sha256=None if block is None else sha256_text(block),
            length=0 if block is None else len(block),
            reason=MINIBATCH,
        )

    def _compare(self, tried: Tried, block: str) -> MinibatchComparison:
        """The child against its parent on the minibatch; a merge against the better parent."""
        s, reward = self.settings, self.reward
        occasion = Occasion(Purpose.CHILD, "reflect", self.pool.next_id, tried.iteration)
        child = self.evaluator.judge(block, tried.notes, occasion, samples=s.samples)
        labels = [note.label for note in self.evaluator.left_out.kept(tried.notes)]
        comparisons = [
            compare(
                labels,
                parent.evaluation.scores,
                child.scores,
                reward=reward,
                clean_weight=s.clean_weight,
            )
            for parent in tried.parents
        ]
        return max(comparisons, key=lambda comparison: comparison.parent_reward)

    # -- the record ------------------------------------------------------------------------------

    def _commit(
        self, tried: Tried, candidate: Candidate, comparison: MinibatchComparison | None
    ) -> None:
        self.pool.add(candidate)
        self.since_best += 1
        self.usable += comparison is not None
        if candidate.accept is not None:
            self.merges.accepted += candidate.kind is Origin.MERGE
            self.frontier.add(candidate.id, scores_of(candidate))
            rank = self._rank(candidate)
            if rank > self.best:
                self.best, self.since_best = rank, 0
        self.journal.append(candidate_event(candidate, comparison))
        self.journal.append(self._iteration_event(tried, candidate))

    def _iteration_event(self, tried: Tried, candidate: Candidate) -> IterationEvent:
        return IterationEvent(
            iteration=tried.iteration,
            kind=tried.kind,
            candidate=candidate.id,
            minibatch=tuple(note.id for note in tried.notes),
            best=round(self.best[0], 9),
            since_best=self.since_best,
            frontier=len(self.frontier.members),
            traces_left_out=tried.proposal.truncated,
            judgements=self.spending.judgements,
            spent=self.spending.total.rounded(),
        )

    def _rank(self, candidate: Candidate) -> Rank:
        assert candidate.accept is not None  # the pool holds scores of every entered candidate
        return self.objective.rank(candidate.accept)


def scores_of(candidate: Candidate) -> Mapping[str, float | None]:
    """Accept scores of an entered candidate, by note id."""
    table = candidate.accept
    assert table is not None
    return {label.id: s for label, s in zip(table.labels, table.scores, strict=True)}


def candidate_event(candidate: Candidate, comparison: MinibatchComparison | None) -> CandidateEvent:
    """The candidate, its minibatch comparison and its accept measures."""
    accept = candidate.accept
    return CandidateEvent(
        id=candidate.id,
        kind=candidate.kind,
        parents=candidate.parents,
        iteration=candidate.iteration,
        status=candidate.status,
        block=candidate.block,
        sha256=candidate.sha256,
        length=candidate.length,
        name=candidate.name,
        reason=candidate.reason,
        detail=candidate.detail,
        minibatch=None if comparison is None else comparison.rounded(),
        accept=None if accept is None else measures_of_table(accept, candidate.flags),
    )
