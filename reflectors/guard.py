"""The proposal guard: what no block may be, whoever wrote it.

Overlap with clinical text is looked for before anything that lets the text be stored: a proposal
that is too long and also holds a note must not reach the journal as «too long».
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from heldout.reflectors.prompts import LengthCap, contract
from heldout.reflectors.protected import ProtectedRuns
from heldout.reflectors.reflector import RejectReason
from heldout.reflectors.reply import CLOSE, OPEN
from heldout.splits.hashing import sha256_text
from heldout.splits.overlap import RUN_WORDS, shingle_hash, shingles, words
from heldout.students.frames import BLOCK_SLOT, Frame

_TAG = re.compile(r"</?([a-z][a-z_-]*)>", re.IGNORECASE)
_KEY = re.compile(r"""["'“”`](\w+)["'“”`]\s*:""")
_DOUBLE_BRACE = re.compile(r"\{\{|\}\}")


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a proposal is rejected.

    `detail` is safe to store: the id of the earlier candidate for a duplicate, hash and length
    for an overlap, a token or a figure for the rest. It never holds a word of clinical text.
    """

    reason: RejectReason
    detail: str

    @property
    def withholds_text(self) -> bool:
        """True where the proposal's own text must not be stored either."""
        return self.reason is RejectReason.OVERLAP


def normalised(block: str) -> str:
    """`block` with every run of white space as one space: what «the same text» means."""
    return " ".join(block.split())


def fingerprint(block: str) -> str:
    """SHA-256 of the normalised text; equal for blocks that differ in white space alone."""
    return sha256_text(normalised(block))


@dataclass(frozen=True)
class Guard:
    """Checks proposals for one campaign: one frame, one length cap, one set of protected runs."""

    frame: Frame
    cap: LengthCap
    protected: ProtectedRuns

    def check(
        self, block: str | None, earlier: Mapping[str, str], parents: Collection[str]
    ) -> Rejection | None:
        """Why `block` is rejected, or None.

        `earlier` maps `fingerprint` or `sha256_text` of every earlier candidate's block to the
        candidate's id; `parents` are the blocks it was made from. Never raises, whatever the text.
        """
        if block is None:
            return Rejection(RejectReason.NO_BLOCK, "no usable block after one retry")
        if not block.strip():
            return Rejection(RejectReason.EMPTY, "nothing between the markers")
        return (
            self._overlap(block)
            or self._token(block)
            or self._contract(block)
            or self._length(block)
            or _repeats(block, earlier, parents)
        )

    def _overlap(self, block: str) -> Rejection | None:
        matched = self.protected.matches(shingles(block))
        if not matched:
            return None
        length, run = _longest(words(block), matched)
        digest = shingle_hash(run, self.protected.heldout.salt)
        return Rejection(RejectReason.OVERLAP, f"run of {length} words, hash {digest:016x}")

    def _token(self, block: str) -> Rejection | None:
        brace = _DOUBLE_BRACE.search(block) or self._slot.search(block)
        if brace:
            return Rejection(RejectReason.SLOT_TOKEN, f"slot token {brace.group()}")
        for marker in (OPEN, CLOSE):
            if marker in block:
                return Rejection(RejectReason.SLOT_TOKEN, f"reply marker {marker}")
        tag = self._markers.search(block)
        if tag:
            return Rejection(RejectReason.SLOT_TOKEN, f"frame marker {tag.group()}")
        return None

    def _contract(self, block: str) -> Rejection | None:
        keys = self._keys & set(_KEY.findall(block))
        if keys:
            return Rejection(RejectReason.RESTATED_CONTRACT, f"answer key {min(keys)}")
        if self._contract_runs & shingles(block):
            return Rejection(
                RejectReason.RESTATED_CONTRACT, f"{RUN_WORDS} words or more of the answer format"
            )
        return None

    def _length(self, block: str) -> Rejection | None:
        excess = self.cap.exceeded_by(block)
        return None if excess is None else Rejection(RejectReason.TOO_LONG, excess)

    @cached_property
    def _slot(self) -> re.Pattern[str]:
        """A slot of the frame in single braces: other template languages fill those."""
        names = "|".join(map(re.escape, {*self.frame.slots, BLOCK_SLOT}))
        return re.compile(rf"\$?\{{\s*(?:{names})\s*\}}")

    @cached_property
    def _markers(self) -> re.Pattern[str]:
        """The frame's own tags, opening or closing, however spaced."""
        names = {name.lower() for name in _TAG.findall(self.frame.template)}
        if not names:
            return re.compile(r"(?!)")
        return re.compile(rf"<\s*/?\s*(?:{'|'.join(map(re.escape, names))})\b[^>]*>", re.IGNORECASE)

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(_KEY.findall(contract(self.frame)))

    @cached_property
    def _contract_runs(self) -> frozenset[str]:
        return frozenset(shingles(contract(self.frame)))


def _longest(tokens: Sequence[str], matched: Collection[str]) -> tuple[int, str]:
    """Length in words of the longest stretch covered by matched runs, and its first run."""
    best, first, start = RUN_WORDS, min(matched), None
    for row in range(len(tokens) - RUN_WORDS + 1):
        if " ".join(tokens[row : row + RUN_WORDS]) not in matched:
            start = None
            continue
        start = row if start is None else start
        length = row - start + RUN_WORDS
        if length > best:
            best, first = length, " ".join(tokens[start : start + RUN_WORDS])
    return best, first


def _repeats(block: str, earlier: Mapping[str, str], parents: Iterable[str]) -> Rejection | None:
    same = normalised(block)
    if any(same == normalised(parent) for parent in parents):
        return Rejection(RejectReason.UNCHANGED, "the text of a parent, white space aside")
    known = earlier.get(fingerprint(block)) or earlier.get(sha256_text(block))
    return None if known is None else Rejection(RejectReason.DUPLICATE, known)
