"""The reflector protocol: reads failures, writes rewrites."""

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
    """What a rewrite is made from. `item` names the proposal for seeds, such as `i07`."""

    item: str
    block: str
    pairs: tuple[JudgedPair, ...]


@dataclass(frozen=True, slots=True)
class MergeContext:
    """What a merge is made from: two blocks, each with the reflect pairs it wins over the other.

    The notes come from reflect: accept notes decide eligibility, they are never shown.
    """

    item: str
    first: str
    second: str
    first_wins: tuple[JudgedPair, ...]
    second_wins: tuple[JudgedPair, ...]


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


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came back from the reflector.

    `block` is None when the reply held no usable block after one retry, an empty text when its
    block was empty. `calls` are the keys of the stored calls; `truncated` counts the traces left
    out to keep the payload budget, `left_out` names their errored notes.
    """

    block: str | None
    calls: tuple[str, ...]
    truncated: int = 0
    left_out: tuple[str, ...] = ()


class Reflector(Protocol):
    """Writes new blocks."""

    async def rewrite(self, context: RewriteContext) -> Proposal:
        """Propose a block that mends the failures of `context.pairs`."""

    async def merge(self, context: MergeContext) -> Proposal:
        """Propose a block that keeps what each of two blocks wins."""
