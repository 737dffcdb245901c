"""The reflector protocol: reads failures, writes new blocks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from heldout.splits.benchmark import Note
from heldout.students.student import Judgement


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """An errored note of reflect beside its own clean twin, both judged under the parent block."""

    errored: Note
    errored_judgement: Judgement
    clean: Note
    clean_judgement: Judgement


@dataclass(frozen=True, slots=True)
class RewriteContext:
    """What a rewrite is made from."""

    item: str
    """Name of the proposal, such as `i007`: the item of its calls, and part of their seed."""
    block: str
    """The parent's block."""
    pairs: tuple[JudgedPair, ...]
    """The pairs of the minibatch under the parent, failures and successes, in no set order."""


@dataclass(frozen=True, slots=True)
class MergeContext:
    """What a merge is made from: two blocks, each with the reflect pairs it wins over the other.

    The notes come from reflect: accept notes decide eligibility, they are never shown.
    """

    item: str
    """Name of the proposal, as in a rewrite."""
    first: str
    second: str
    first_wins: tuple[JudgedPair, ...]
    """Pairs that `first` ranks better, as judged under `first`; may be empty."""
    second_wins: tuple[JudgedPair, ...]
    """The same for `second`."""


class RejectReason(StrEnum):
    """Why a proposal never became a candidate to score."""

    NO_BLOCK = "no_block"
    EMPTY = "empty"
    TOO_LONG = "too_long"
    SLOT_TOKEN = "slot_token"
    RESTATED_CONTRACT = "restated_contract"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    OVERLAP = "overlap"
    IDENTIFIER = "identifier"

    @property
    def withholds_text(self) -> bool:
        """True where the proposal holds clinical text: it is kept nowhere, nor is the reply."""
        return self in (RejectReason.OVERLAP, RejectReason.IDENTIFIER)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came back from the reflector; the guard has not seen it yet."""

    block: str | None
    """None when no reply held a usable block, an empty text when its block was empty."""
    calls: tuple[str, ...]
    """Keys of the stored calls, in the order asked; empty for a reflector without a model."""
    truncated: int = 0
    """How many traces were left out to keep the payload's budget."""
    left_out: tuple[str, ...] = ()
    """Ids of the errored notes whose traces they were."""


class Reflector(Protocol):
    """Writes new blocks; equal contexts give equal proposals.

    What it proposes is checked by the guard, whoever wrote it: no words of notes, no names or other
    identifiers, no slots, no answer format, within the length cap of `Terms`. A reply without a
    usable block is a proposal without one. Raises what the caller raises: InfrastructureFailure,
    CircuitOpen, CallRefused, CallMissing or a `Stopped`.
    """

    async def rewrite(self, context: RewriteContext) -> Proposal:
        """Propose a block that mends the failures of `context.pairs`."""

    async def merge(self, context: MergeContext) -> Proposal:
        """Propose a block that keeps what each of two blocks wins."""
