"""The proposal guard: what no block may be, whoever wrote it.

Clinical text is looked for before anything that lets the text be stored: a proposal that is too
long and also holds a note, or a name, must not reach the journal as «too long».
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from heldout.reflectors.prompts import LengthCap, contract
from heldout.reflectors.reflector import RejectReason
from heldout.reflectors.reply import CLOSE, OPEN
from heldout.splits.hashing import sha256_text
from heldout.splits.legible import as_latin, forms
from heldout.splits.overlap import (
    RUN_WORDS,
    WHOLE_WORD,
    shingle_hash,
    shingles,
    spans,
    tokens,
    weights,
)
from heldout.splits.protected import GATHERED_WORDS, ProtectedTexts
from heldout.students.frames import BLOCK_SLOT, Frame

_KEY = re.compile(r"""["'“”`](\w+)["'“”`]\s*:""")
_DOUBLE_BRACE = re.compile(r"\{\s?\{|\}\s?\}")
_CODED = re.compile(r"(?:\\u00|\\x|%)(3[ce])", re.IGNORECASE)
"""Angle brackets as JSON, Python and addresses write them."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a proposal is rejected.

    `detail` is safe to store: the id of the earlier candidate for a duplicate, hash and length
    for an overlap, its kind for an identifier (whose hash could be found by trying), a token or a
    figure for the rest. It never holds a word of clinical text.
    """

    reason: RejectReason
    detail: str

    @property
    def withholds_text(self) -> bool:
        """True where the proposal's own text must not be stored either."""
        return self.reason.withholds_text


def normalised(block: str) -> str:
    """`block` with every run of white space as one space: what «the same text» means."""
    return " ".join(block.split())


def fingerprint(block: str) -> str:
    """SHA-256 of the normalised text; equal for blocks that differ in white space alone."""
    return sha256_text(normalised(block))


@dataclass(frozen=True)
class Guard:
    """Checks proposals for one campaign: one frame, one length cap, one set of protected texts."""

    frame: Frame
    cap: LengthCap
    protected: ProtectedTexts

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
            or self._identifier(block)
            or self._token(_as_read(block))
            or self._contract(_as_read(block))
            or self._length(block)
            or _repeats(block, earlier, parents)
        )

    def _overlap(self, block: str) -> Rejection | None:
        matched = self.protected.copied(block)
        if matched:
            found = max(_longest(tokens(form), matched) for form in forms(block))
            digest = shingle_hash(found.first, self.protected.salt)
            detail = f"run of {found.words} words, hash {digest:016x}"
            return Rejection(RejectReason.OVERLAP, detail)
        gathered = self.protected.gathered(block)
        if gathered < GATHERED_WORDS:
            return None
        return Rejection(
            RejectReason.OVERLAP, f"{gathered} words in short pieces of one consultation"
        )

    def _identifier(self, block: str) -> Rejection | None:
        kinds = self.protected.named(block)
        if not kinds:
            return None
        return Rejection(RejectReason.IDENTIFIER, f"{', '.join(kinds)} of a consultation")

    def _token(self, block: str) -> Rejection | None:
        brace = _DOUBLE_BRACE.search(block) or self._slot.search(block)
        if brace:
            return Rejection(RejectReason.SLOT_TOKEN, f"slot token {brace.group()}")
        for marker in (OPEN, CLOSE):
            if marker in block:
                return Rejection(RejectReason.SLOT_TOKEN, f"reply marker {marker}")
        tag = self.frame.own_tags.search(block)
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
    def _keys(self) -> frozenset[str]:
        return frozenset(_KEY.findall(contract(self.frame)))

    @cached_property
    def _contract_runs(self) -> frozenset[str]:
        return frozenset(shingles(contract(self.frame)))


def own_texts(frame: Frame, seeds: Iterable[str]) -> tuple[str, ...]:
    """Texts of the campaign itself, whose words a block may repeat: the frame and every seed."""
    return (frame.template, *seeds)


def _as_read(block: str) -> str:
    """`block` with tags, braces and marks as a model reads them: entities and other codes undone,
    full-width and look-alike characters as the plain ones."""
    for _ in range(3):
        block = html.unescape(block)
    return as_latin(_CODED.sub(lambda match: chr(int(match[1], 16)), block))


@dataclass(frozen=True, order=True, slots=True)
class _Stretch:
    """A stretch of copied text: its length in words and its first run."""

    words: int
    first: str


def _longest(spelled: Sequence[str], matched: Collection[str]) -> _Stretch:
    """The longest stretch covered by matched runs; where none is in these words, the first run."""
    best, begun, first = _Stretch(RUN_WORDS, min(matched)), None, ""
    for start, end in spans(spelled):
        run = " ".join(spelled[start:end])
        if run not in matched:
            begun = None
            continue
        if begun is None:
            begun, first = start, run
        length = sum(weights(spelled[begun:end])) // WHOLE_WORD
        if length > best.words:
            best = _Stretch(length, first)
    return best


def _repeats(block: str, earlier: Mapping[str, str], parents: Iterable[str]) -> Rejection | None:
    same = normalised(block)
    if any(same == normalised(parent) for parent in parents):
        return Rejection(RejectReason.UNCHANGED, "the text of a parent, white space aside")
    known = earlier.get(fingerprint(block)) or earlier.get(sha256_text(block))
    return None if known is None else Rejection(RejectReason.DUPLICATE, known)
