"""From a drawn minibatch to a proposal: what a rewrite and a merge are made from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from heldout.gepa.evaluation import Evaluation
from heldout.gepa.reward import win_value
from heldout.reflectors.reflector import (
    JudgedPair,
    MergeContext,
    Proposal,
    Reflector,
    RewriteContext,
)
from heldout.splits.benchmark import Note


@dataclass(frozen=True)
class Parent:
    """A block with its judgements on the minibatch."""

    id: str
    block: str
    evaluation: Evaluation


def judged_pairs(notes: Sequence[Note], evaluation: Evaluation) -> tuple[JudgedPair, ...]:
    """The errored notes of a minibatch beside their own clean twins."""
    by_id = {note.id: note for note in notes}
    judged = evaluation.first
    return tuple(
        JudgedPair(note, judged[note.id], by_id[note.label.twin], judged[note.label.twin])
        for note in notes
        if not note.label.is_clean
    )


def rewrite(
    runner: asyncio.Runner, reflector: Reflector, item: str, notes: Sequence[Note], parent: Parent
) -> Proposal:
    """Ask for a block that mends the parent's failures on the minibatch."""
    pairs = judged_pairs(notes, parent.evaluation)
    return runner.run(reflector.rewrite(RewriteContext(item, parent.block, pairs)))


def merge(
    runner: asyncio.Runner,
    reflector: Reflector,
    item: str,
    notes: Sequence[Note],
    parents: tuple[Parent, Parent],
) -> Proposal:
    """Ask for a block that keeps what each parent wins over the other on the minibatch.

    The prompt holds reflect notes only; that the two lead on different accept notes made them
    eligible, but no accept note is shown.
    """
    first, second = parents
    context = MergeContext(
        item,
        first.block,
        second.block,
        _wins_over(notes, first.evaluation, second.evaluation),
        _wins_over(notes, second.evaluation, first.evaluation),
    )
    return runner.run(reflector.merge(context))


def _wins_over(
    notes: Sequence[Note], winner: Evaluation, other: Evaluation
) -> tuple[JudgedPair, ...]:
    return tuple(
        pair
        for pair in judged_pairs(notes, winner)
        if win_value(pair.errored.label, winner.scores)
        > win_value(pair.errored.label, other.scores)
    )
