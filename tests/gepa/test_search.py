"""The search loop on students and reflectors that answer in process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.benchmarks.in_process import Doubles, SkillStudent, build_search

from heldout.gepa.acceptance import FullPool, MinibatchImprovement
from heldout.gepa.candidates import Origin, Status
from heldout.gepa.record.events import (
    CandidateEvent,
    EvaluationEvent,
    IterationEvent,
    SearchEndEvent,
)
from heldout.gepa.record.kinds import FinishReason
from heldout.gepa.settings import SearchSettings
from heldout.reflectors.reflector import MergeContext, Proposal, RewriteContext
from heldout.splits.errors import CircuitOpen, InfrastructureFailure, StopRequested
from heldout.splits.hashing import sha256_json


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as opened:
        yield opened


def settings(**changes: object) -> SearchSettings:
    return SearchSettings(**{"iterations": 25, "stall": 100, **changes})  # type: ignore[arg-type]


def lineage(bench) -> str:
    return sha256_json(
        [
            [body.id, body.parents, body.sha256, body.status, body.reason]
            for body in bench.journal.of(CandidateEvent)
        ]
    )


def test_every_proposal_is_a_candidate_and_ids_follow_commit_order(runner) -> None:
    bench = build_search(runner, settings=settings())
    assert bench.search.run() is FinishReason.ITERATIONS
    ids = [candidate.id for candidate in bench.search.pool]
    assert ids == [f"c{k:02d}" for k in range(26)]
    statuses = {c.status for c in bench.search.pool}
    assert statuses == {Status.ENTERED, Status.REJECTED}


def test_entered_candidates_and_only_they_are_scored_on_accept(runner) -> None:
    bench = build_search(runner, settings=settings())
    bench.search.run()
    scored = {b.candidate for b in bench.journal.of(EvaluationEvent) if b.split == "accept"}
    assert scored == {c.id for c in bench.search.pool.entered}


def test_a_child_enters_exactly_when_it_improves_the_minibatch(runner) -> None:
    bench = build_search(runner, settings=settings())
    bench.search.run()
    for body in bench.journal.of(CandidateEvent):
        if body.minibatch is not None:
            better = body.minibatch.child_reward > body.minibatch.parent_reward
            assert (body.status == "entered") is better
            assert body.reason == (None if better else "minibatch")


def test_merge_fires_with_one_block(runner) -> None:
    """gepa, dspy and mlflow swap whole components, so with one block a merge never happens."""
    bench = build_search(runner, settings=settings(iterations=60, merge_probability=1.0))
    bench.search.run()
    merges = [c for c in bench.search.pool if c.kind is Origin.MERGE]
    assert len(merges) == bench.search.merges.built == 4  # max_merges
    assert all(len(c.parents) == 2 and c.parents[0] != c.parents[1] for c in merges)
    end = bench.journal.of(SearchEndEvent)[0].merges
    assert end.scheduled == end.built + end.ineligible
    assert end.accepted == sum(c.status is Status.ENTERED for c in merges)


def test_merges_wait_for_six_candidates(runner) -> None:
    bench = build_search(runner, settings=settings(iterations=60, merge_probability=1.0))
    bench.search.run()
    first = next(c for c in bench.search.pool if c.kind is Origin.MERGE)
    before = [c for c in bench.search.pool.entered if int(c.id[1:]) < int(first.id[1:])]
    assert len(before) >= 6


def test_no_merges_when_they_are_switched_off(runner) -> None:
    bench = build_search(runner, settings=settings(iterations=40, max_merges=0))
    bench.search.run()
    assert not any(c.kind is Origin.MERGE for c in bench.search.pool)


def test_merge_of_parents_that_win_nothing_does_not_crash(runner) -> None:
    """gepa weights common ancestors by their scores and crashes when all are zero."""

    @dataclass(frozen=True)
    class Blind(SkillStudent):
        async def judge(self, block, note, budget, sample):
            answer = await super().judge(block, note, budget, sample)
            return type(answer)(None, answer.outcome.CONTRACT_VIOLATION, ())

    bench = build_search(
        runner,
        settings=settings(merge_probability=1.0, merge_from=2),
        doubles=Doubles(student=Blind()),
    )
    assert bench.search.run() is FinishReason.ITERATIONS
    assert len(bench.search.pool.entered) == 1


def test_stall_ends_the_search_after_iterations_without_a_new_best(runner) -> None:
    bench = build_search(runner, settings=settings(iterations=200, stall=5))
    assert bench.search.run() is FinishReason.STALL
    assert bench.journal.of(IterationEvent)[-1].since_best == 5


def test_search_limits_are_not_overshot_by_an_iteration(runner) -> None:
    """gepa's budget of 2000 became 2014: the last iteration started although it did not fit."""
    limit = 400
    bench = build_search(runner, settings=settings(iterations=200, max_judgements=limit))
    assert bench.search.run() is FinishReason.MAX_JUDGEMENTS
    assert bench.spending.judgements <= limit
    assert bench.spending.judgements == len(bench.student.awaited)


def test_a_judgement_is_never_asked_for_twice(runner) -> None:
    bench = build_search(runner, settings=settings())
    seen: set[tuple[str, str]] = set()
    original = bench.student.judge

    async def judge(block, note, budget, sample):
        assert (block, note.id) not in seen
        seen.add((block, note.id))
        return await original(block, note, budget, sample)

    object.__setattr__(bench.student, "judge", judge)
    bench.search.run()
    assert len(seen) > 200


def test_equal_seeds_give_equal_lineage_and_other_seeds_another(runner) -> None:
    results = []
    for seed in (1, 1, 2):
        bench = build_search(runner, settings=settings(), seed=seed)
        bench.search.run()
        results.append(lineage(bench))
    assert results[0] == results[1] != results[2]


def test_a_seed_that_scores_perfect_by_chance_does_not_stop_the_run(runner) -> None:
    @dataclass(frozen=True)
    class Perfect(SkillStudent):
        async def judge(self, block, note, budget, sample):
            answer = await super().judge(block, note, budget, sample)
            return type(answer)(9.0 if note.label.is_clean else 1.0, answer.outcome, ())

    bench = build_search(
        runner, settings=settings(iterations=6), doubles=Doubles(student=Perfect())
    )
    assert bench.search.run() is FinishReason.ITERATIONS
    assert len(bench.journal.of(IterationEvent)) == 6


class Fixed:
    """A reflector that always answers the same."""

    def __init__(self, block: str | None) -> None:
        self.block = block

    async def rewrite(self, context: RewriteContext) -> Proposal:
        return Proposal(self.block, ())

    async def merge(self, context: MergeContext) -> Proposal:
        return Proposal(self.block, ())


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (None, "no_block"),
        ("   ", "empty"),
        ("seed block  0", "unchanged"),
        ("judge {{note}} well", "slot_token"),
        ("word " * 500, "too_long"),
    ],
)
def test_proposals_without_a_usable_block_are_candidates_with_a_reason(
    runner, block, reason
) -> None:
    bench = build_search(
        runner, settings=settings(iterations=2), doubles=Doubles(reflector=Fixed(block))
    )
    assert bench.search.run() is FinishReason.NO_PROPOSAL
    proposals = bench.journal.of(CandidateEvent)
    assert [body.reason for body in proposals] == [reason, reason]
    assert not any(b.purpose == "child" for b in bench.journal.of(EvaluationEvent))


def test_one_usable_proposal_makes_it_a_search(runner) -> None:
    class Once(Fixed):
        async def rewrite(self, context: RewriteContext) -> Proposal:
            return Proposal("new block 0" if context.item == "i002" else None, ())

    never = MinibatchImprovement(margin=1.0)
    doubles = Doubles(reflector=Once(None), acceptance=never)
    bench = build_search(runner, settings=settings(iterations=3), doubles=doubles)
    assert bench.search.run() is FinishReason.ITERATIONS


def test_no_iteration_is_no_search_that_failed(runner) -> None:
    bench = build_search(
        runner, settings=settings(iterations=0), doubles=Doubles(reflector=Fixed(None))
    )
    assert bench.search.run() is FinishReason.ITERATIONS


def test_a_duplicate_names_the_earlier_candidate(runner) -> None:
    never = MinibatchImprovement(margin=1.0)
    doubles = Doubles(reflector=Fixed("new block 0"), acceptance=never)
    bench = build_search(runner, settings=settings(iterations=3), doubles=doubles)
    bench.search.run()
    first, second, third = bench.journal.of(CandidateEvent)
    assert first.reason == "minibatch"  # so that the text is a duplicate and no parent's
    assert {(b.reason, b.detail) for b in (second, third)} == {("duplicate", "c01")}


@pytest.mark.parametrize("error", [StopRequested("SIGINT"), CircuitOpen(20, "down")])
def test_a_stop_lets_everything_in_flight_come_back_and_scores_nothing(runner, error) -> None:
    returned: list[str] = []

    @dataclass(frozen=True)
    class Stopping(SkillStudent):
        async def judge(self, block, note, budget, sample):
            if block.startswith("block i002"):
                if note.label.is_clean:
                    raise error
                await asyncio.sleep(0.01)
                returned.append(note.id)
            return await super().judge(block, note, budget, sample)

    bench = build_search(runner, settings=settings(), doubles=Doubles(student=Stopping()))
    with pytest.raises(type(error)):
        bench.search.run()
    assert len(returned) == 8
    assert bench.journal.of(IterationEvent)[-1].iteration == 1
    assert not any(
        b.purpose == "child" and b.iteration == 2 for b in bench.journal.of(EvaluationEvent)
    )


def test_infrastructure_failure_is_never_scored(runner) -> None:
    """gepa scored a lost connection 0.0 and cached it."""

    @dataclass(frozen=True)
    class Broken(SkillStudent):
        async def judge(self, block, note, budget, sample):
            if block.startswith("block i001"):
                raise InfrastructureFailure("connection reset")
            return await super().judge(block, note, budget, sample)

    bench = build_search(runner, settings=settings(), doubles=Doubles(student=Broken()))
    with pytest.raises(InfrastructureFailure):
        bench.search.run()
    assert all(None not in b.scores.values() for b in bench.journal.of(EvaluationEvent))


def test_full_pool_acceptance_admits_only_what_improves_and_loses_nothing(runner) -> None:
    bench = build_search(
        runner, settings=settings(iterations=40), doubles=Doubles(acceptance=FullPool())
    )
    bench.search.run()
    objective = bench.search.objective
    by_id = {c.id: c for c in bench.search.pool}
    turned_away = [c for c in by_id.values() if c.reason == "full_pool"]
    assert turned_away
    for candidate in bench.search.pool.entered[1:]:
        child = objective.rank(candidate.accept)
        parents = [objective.rank(by_id[id_].accept) for id_ in candidate.parents]
        assert all(c >= p for c, p in zip(child, max(parents), strict=True))
        assert child != max(parents)
    scored = {b.candidate for b in bench.journal.of(EvaluationEvent) if b.split == "accept"}
    assert {c.id for c in turned_away} <= scored


def test_a_declared_margin_keeps_small_improvements_out(runner) -> None:
    free = build_search(runner, settings=settings())
    strict = build_search(
        runner, settings=settings(), doubles=Doubles(acceptance=MinibatchImprovement(0.2))
    )
    free.search.run()
    strict.search.run()
    assert len(strict.search.pool.entered) < len(free.search.pool.entered)
    for body in strict.journal.of(CandidateEvent):
        if body.status == "entered" and body.minibatch:
            gain = body.minibatch.child_reward - body.minibatch.parent_reward
            assert gain > 0.2


def test_scores_of_one_split_are_never_served_for_another(runner) -> None:
    """gepa's cache keyed on list positions gave validation the scores of train rollouts."""
    bench = build_search(runner, settings=settings())
    bench.search.run()
    by_split: dict[str, set[str]] = {}
    for body in bench.journal.of(EvaluationEvent):
        by_split.setdefault(body.split, set()).update(body.scores)
    assert not by_split["reflect"] & by_split["accept"]


def test_every_event_says_its_split_and_purpose(runner) -> None:
    """mlflow guesses the role of an evaluation from its size."""
    bench = build_search(runner, settings=settings())
    bench.search.run()
    roles = {(b.purpose, b.split) for b in bench.journal.of(EvaluationEvent)}
    assert roles == {
        ("seed", "accept"), ("parent", "reflect"), ("child", "reflect"), ("accept", "accept"),
    }  # fmt: skip


def test_the_frame_stands_on_every_evaluation(runner) -> None:
    """A peer's optimiser dropped a slot of the prompt, and the broken candidate won."""
    bench = build_search(runner, settings=settings())
    bench.search.run()
    hashes = {body.frame_sha256 for body in bench.journal.of(EvaluationEvent)}
    assert hashes == {bench.student.frame.sha256}
