"""Runs of eight words that no block may hold, known by their hashes.

Notes and transcripts of reflect and accept are hashed here. Of held-out there are only salted
hashes, which the vault wrote when the data was split: whoever checks a block has no way to the
text they stand for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from heldout.splits.benchmark import Consultation
from heldout.splits.overlap import shingle_hash, shingle_hashes
from heldout.students.frames import Frame

COMMON_FROM = 3
"""A run that stands in this many consultations is a turn of phrase, not a leak."""


@dataclass(frozen=True)
class ProtectedRuns:
    """Hashes of the runs of every split, and of the runs that are exempt.

    `search`: reflect and accept, without salt. `heldout`: with `salt`. `exempt`: without salt.
    """

    search: frozenset[int]
    heldout: frozenset[int]
    salt: str
    exempt: frozenset[int] = frozenset()

    def matches(self, runs: Collection[str]) -> frozenset[str]:
        """The protected ones among `runs` (of words as `heldout.splits.overlap.words` has them)."""
        return frozenset(run for run in runs if self._protects(run))

    def _protects(self, run: str) -> bool:
        plain = shingle_hash(run)
        if plain in self.exempt:
            return False
        return plain in self.search or shingle_hash(run, self.salt) in self.heldout


def protect(
    consultations: Iterable[Consultation],
    *,
    heldout: Collection[int],
    salt: str,
    own: Iterable[str],
) -> ProtectedRuns:
    """The protected runs of a campaign.

    `consultations` are those of reflect and accept; `heldout` and `salt` come from the vault;
    `own` are texts of the campaign itself (seed blocks, the frame's template), whose runs are
    exempt like those found in three or more consultations.
    """
    counts: Counter[int] = Counter()
    for consultation in consultations:
        counts.update(_runs(consultation))
    common = {
        run for run, consultations_with in counts.items() if consultations_with >= COMMON_FROM
    }
    for text in own:
        common |= shingle_hashes(text)
    return ProtectedRuns(frozenset(counts) - common, frozenset(heldout), salt, frozenset(common))


def own_texts(frame: Frame, seeds: Iterable[str]) -> tuple[str, ...]:
    """Texts whose runs a block may repeat: the frame's and every seed's."""
    return (frame.template, *seeds)


def _runs(consultation: Consultation) -> set[int]:
    found = shingle_hashes(consultation.transcript)
    for note in consultation.notes:
        found |= shingle_hashes(note.text)
    return found
