"""Candidates and the pool: every block that was proposed, entered or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from heldout.gepa.statistics.table import ScoreTable
from heldout.reflectors.guard import fingerprint


class Origin(StrEnum):
    """Where a block came from."""

    SEED = "seed"
    MUTATION = "mutation"
    MERGE = "merge"


class Status(StrEnum):
    """Whether a candidate reached the pool."""

    ENTERED = "entered"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Candidate:
    """One proposal. `id` is `c` and its ordinal in commit order, seeds first from `c00`.

    `block` is None when the reply held no usable block, or when the text must not be stored
    because it repeats clinical text (then only `sha256` and `length` remain). `reason` says why a
    candidate was rejected; `detail` adds, for a duplicate, the earlier id. `accept` and `flags`
    are the scores and the design's own flags on accept, for entered candidates only.
    """

    id: str
    kind: Origin
    parents: tuple[str, ...]
    iteration: int
    status: Status
    block: str | None
    sha256: str | None
    length: int
    name: str | None = None
    reason: str | None = None
    detail: str | None = None
    accept: ScoreTable | None = field(default=None, repr=False, compare=False)
    flags: Mapping[str, bool] | None = field(default=None, repr=False, compare=False)


class Pool:
    """All candidates in commit order.

    `entered` holds those that were scored on accept, `by_fingerprint` the first candidate of each
    text, white space aside.
    """

    def __init__(self) -> None:
        self._all: list[Candidate] = []
        self.entered: list[Candidate] = []
        self.by_fingerprint: dict[str, str] = {}

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def next_id(self) -> str:
        """Id of the next candidate."""
        return f"c{len(self._all):02d}"

    def without(self, leave: Callable[[ScoreTable], ScoreTable]) -> list[Candidate]:
        """Apply `leave` to every accept table; the candidates whose tables it has changed."""
        changed = []
        for place, candidate in enumerate(self._all):
            if candidate.accept is None:
                continue
            kept = leave(candidate.accept)
            if kept.labels != candidate.accept.labels:
                self._all[place] = replace(candidate, accept=kept)
                self.entered[self.entered.index(candidate)] = self._all[place]
                changed.append(self._all[place])
        return changed

    def add(self, candidate: Candidate) -> None:
        """Commit `candidate`. Raises ValueError when its id is not the next one."""
        if candidate.id != self.next_id:
            raise ValueError(f"expected candidate {self.next_id}, got {candidate.id}")
        if (candidate.status is Status.ENTERED) != (candidate.accept is not None):
            raise ValueError(
                f"{candidate.id}: entered candidates, and only they, have accept scores"
            )
        self._all.append(candidate)
        if candidate.block is not None:
            self.by_fingerprint.setdefault(fingerprint(candidate.block), candidate.id)
        if candidate.status is Status.ENTERED:
            self.entered.append(candidate)
