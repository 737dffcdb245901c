"""Eight-word runs of consultations, and what may be known of those of held-out: salted hashes.

The leakage guard rejects a block that repeats a run of any note or transcript, except runs found
in three or more consultations (stock phrases). For reflect and accept it reads the texts. For
held-out it gets two sets of hashes written when the partition is drawn, because counting
consultations needs the texts of all three splits, and only then are they all at hand:

- `guarded`: runs of held-out found in fewer than `COMMON` consultations of the whole partition.
  A block that has one of them is rejected.
- `exempt`: runs of held-out that are also in reflect or accept and are found in `COMMON` or more.
  A block may have them although reflect and accept alone hold too few to show it.

A hash tells only whether a run one already has is in the set. The salt is the partition's own, so
hashes of two partitions cannot be compared.
"""

from __future__ import annotations

import base64
import sys
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from heldout.splits.benchmark import Consultation
from heldout.splits.overlap import RUN_WORDS, shingle_hash, shingles

COMMON = 3
"""Number of consultations from which on a run counts as a stock phrase."""


@dataclass(frozen=True, slots=True)
class HeldoutRuns:
    """Salted 64-bit hashes of runs of held-out texts, see `overlap.shingle_hash`."""

    salt: str
    guarded: frozenset[int]
    exempt: frozenset[int]
    words: int = RUN_WORDS


def consultation_runs(consultation: Consultation, *, has_transcripts: bool = True) -> set[str]:
    """Every run of the transcript and of all notes of a consultation."""
    texts = [note.text for note in consultation.notes]
    if has_transcripts:
        texts.append(consultation.transcript)
    return set().union(*map(shingles, texts))


def heldout_runs(
    heldout: Iterable[Consultation],
    visible: Iterable[Consultation],
    *,
    salt: str,
    has_transcripts: bool,
) -> HeldoutRuns:
    """The hashes of the runs of `heldout`, counted over it and `visible` (reflect and accept)."""

    def counted(consultations: Iterable[Consultation]) -> Counter[int]:
        return Counter(
            shingle_hash(run, salt)
            for consultation in consultations
            for run in consultation_runs(consultation, has_transcripts=has_transcripts)
        )

    inside, outside = counted(heldout), counted(visible)
    common = {run for run, count in inside.items() if count + outside[run] >= COMMON}
    return HeldoutRuns(
        salt=salt,
        guarded=frozenset(inside.keys() - common),
        exempt=frozenset(common & outside.keys()),
    )


def packed(hashes: Iterable[int]) -> str:
    """Sorted 64-bit hashes as base64 of their big-endian bytes."""
    numbers = array("Q", sorted(hashes))
    if sys.byteorder == "little":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def unpacked(text: object) -> frozenset[int]:
    """What `packed` wrote. Raises ValueError for anything else."""
    if not isinstance(text, str):
        raise ValueError("base64 text is needed")
    data = base64.b64decode(text, validate=True)
    if len(data) % 8:
        raise ValueError("its length is no multiple of 64 bits")
    numbers = array("Q", data)
    if sys.byteorder == "little":
        numbers.byteswap()
    return frozenset(numbers)
