"""The per-example Pareto frontier over accept notes, and the draw of parents from it.

A candidate leads an example when no candidate has a higher value on it; ties lead together. It is
on the frontier if it leads something and no other candidate leads a strict superset of what it
leads. Source of the idea: GEPA (Agrawal et al. 2025); the values per example are
here a win, tie or loss against the clean twin, or a reward.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from heldout.gepa.reward import Reward, Scores, win_value
from heldout.gepa.settings import FrontierKind
from heldout.gepa.statistics.table import BoolArray, FloatArray
from heldout.splits.benchmark import NoteLabel
from heldout.splits.randomness import Part, weighted_choice

Valuation = Callable[[Scores], FloatArray]
"""Values of one candidate on every example, shape (examples,)."""


def win_tie_loss(labels: Sequence[NoteLabel]) -> Valuation:
    """Examples are the errored notes, valued 1, 0.5 or 0 against their own twin (the default)."""
    errored = [label for label in labels if not label.is_clean]
    return lambda scores: np.array([win_value(label, scores) for label in errored])


def raw_reward(labels: Sequence[NoteLabel], reward: Reward) -> Valuation:
    """Examples are all accept notes, valued by their reward (the study's way)."""
    kept = list(labels)
    return lambda scores: np.array([reward.of(label, scores) for label in kept])


def valuation(kind: FrontierKind, labels: Sequence[NoteLabel], reward: Reward) -> Valuation:
    """How examples are valued, by the name that a configuration has for it."""
    return win_tie_loss(labels) if kind == "win_tie_loss" else raw_reward(labels, reward)


class Frontier:
    """Who leads what; grows by one candidate at a time.

    `members` maps each frontier candidate to how many examples it leads. Where a newcomer takes
    no example from anyone, it only has to be compared with the members, so that a step costs the
    same however many candidates came before; where it does, all lead sets are compared anew.
    """

    def __init__(self, valuation: Valuation) -> None:
        self._valuation = valuation
        self._best: FloatArray | None = None
        self._leads: dict[str, BoolArray] = {}
        self.members: dict[str, int] = {}

    def add(self, candidate: str, scores: Scores) -> None:
        """Enter a candidate with its scores on accept and bring `members` up to date."""
        values = self._valuation(scores)
        if self._best is None:
            self._best = np.full(values.shape, -np.inf)
        beaten, own = values > self._best, values >= self._best
        self._best = np.maximum(self._best, values)
        if beaten.any():
            self._take(beaten)
        if own.any():
            self._leads[candidate] = own
        if beaten.any():
            self.members = self._undominated()
        elif own.any():
            self._join(candidate, own)

    def _take(self, beaten: BoolArray) -> None:
        """Nobody leads the `beaten` examples any more; who leads nothing else is out."""
        self._leads = {
            other: leads & ~beaten
            for other, leads in self._leads.items()
            if (leads & ~beaten).any()
        }

    def _join(self, candidate: str, own: BoolArray) -> None:
        """Compare a newcomer with the members; whoever a non-member beats, a member beats too."""
        ids = list(self.members)
        leads = np.stack([self._leads[id_] for id_ in ids])
        size, shared, mine = leads.sum(axis=1), (leads & own).sum(axis=1), int(own.sum())
        if not ((shared == mine) & (size > mine)).any():
            inside = (shared == size) & (size < mine)
            self.members = {
                id_: int(n) for id_, n, gone in zip(ids, size, inside, strict=True) if not gone
            }
            self.members[candidate] = mine

    def draw(self, *path: Part, without: frozenset[str] = frozenset()) -> str:
        """A frontier candidate, in proportion to the examples it leads."""
        ids = [id_ for id_ in self.members if id_ not in without]
        return weighted_choice(ids, [self.members[id_] for id_ in ids], *path)

    def complementary(self, first: str) -> list[str]:
        """Frontier candidates that lead an example `first` does not, and the other way round."""
        mine = self._leads[first]
        return [
            other
            for other in self.members
            if other != first
            and (self._leads[other] & ~mine).any()
            and (mine & ~self._leads[other]).any()
        ]

    def _undominated(self) -> dict[str, int]:
        ids = list(self._leads)
        matrix = np.stack([self._leads[id_] for id_ in ids]).astype(np.float32)
        size = matrix.sum(axis=1)
        shared = matrix @ matrix.T  # shared[i, j]: examples i and j both lead
        superset = (shared == size[:, None]) & (size[None, :] > size[:, None])
        return {
            id_: int(n)
            for id_, n, dominated in zip(ids, size, superset.any(axis=1), strict=True)
            if not dominated
        }
