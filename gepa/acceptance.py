"""Acceptance: does a child enter the pool? Asked on its parent's minibatch, then on accept.

A rule is a frozen dataclass. The default is that of the study's confirmatory campaign: a better
mean reward on the minibatch is enough, and the frontier prunes later. The second campaign's asks
again on the full accept set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heldout.gepa.objective import Rank
from heldout.gepa.reward import Reward, Scores, mean_reward, separation
from heldout.splits.benchmark import NoteLabel


@dataclass(frozen=True, slots=True)
class MinibatchComparison:
    """Parent and child on one minibatch: mean rewards and, beside them, separations."""

    parent_reward: float
    child_reward: float
    parent_separation: float | None
    child_separation: float | None

    def rounded(self) -> MinibatchComparison:
        """As it stands in the journal: rounded to nine decimals."""
        apart = (self.parent_separation, self.child_separation)
        parent, child = (None if value is None else round(value, 9) for value in apart)
        rewards = round(self.parent_reward, 9), round(self.child_reward, 9)
        return MinibatchComparison(*rewards, parent, child)


class Acceptance(Protocol):
    """Decides twice: whether accept notes are spent on a child, and whether it then enters."""

    def accepts(self, comparison: MinibatchComparison) -> bool:
        """True if the child's minibatch is good enough to score it on accept."""

    def admits(self, child: Rank, parent: Rank) -> bool:
        """True if the child, ranked on accept beside its parent, enters."""


@dataclass(frozen=True, slots=True)
class MinibatchImprovement:
    """The child enters when its mean reward exceeds the parent's by more than `margin`."""

    margin: float = 0.0

    def accepts(self, comparison: MinibatchComparison) -> bool:
        """True if the child is better; equal rewards are not."""
        return comparison.child_reward > comparison.parent_reward + self.margin + 1e-12

    def admits(self, child: Rank, parent: Rank) -> bool:
        """Whatever passed the minibatch enters."""
        del child, parent
        return True


@dataclass(frozen=True, slots=True)
class FullPool:
    """The minibatch as a filter, then accept: one measure must improve and none may fall."""

    margin: float = 0.0

    def accepts(self, comparison: MinibatchComparison) -> bool:
        """True if the child is better on the minibatch."""
        return MinibatchImprovement(self.margin).accepts(comparison)

    def admits(self, child: Rank, parent: Rank) -> bool:
        """True if the child improves one measure of the objective and loses none."""
        return all(c >= p for c, p in zip(child, parent, strict=True)) and child != parent


def compare(
    labels: Sequence[NoteLabel],
    parent: Scores,
    child: Scores,
    *,
    reward: Reward,
    clean_weight: float,
) -> MinibatchComparison:
    """Both blocks on the notes of one minibatch."""
    return MinibatchComparison(
        parent_reward=mean_reward(reward, labels, parent, clean_weight),
        child_reward=mean_reward(reward, labels, child, clean_weight),
        parent_separation=separation(labels, parent),
        child_separation=separation(labels, child),
    )
